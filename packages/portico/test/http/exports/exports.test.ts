// Exports: all rows of a collection that a caller sees, in one response.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { users } from "../../../src/auth/users/resource.ts";
import { app } from "../../../src/declare/app.ts";
import { belongsTo, choice, integer, text } from "../../../src/declare/field.ts";
import { range } from "../../../src/declare/filter.ts";
import { resource } from "../../../src/declare/resource.ts";
import { makeKey } from "../../support/keys.ts";
import { expectAnswer, makeTenant, scenarios, TestServer } from "../../support/scenario.ts";
import { type Answer, makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

const notes = resource("note", {
  fields: {
    title: text({ max: 200 }),
    status: choice(["open", "done"], { default: "open" }),
    points: integer({ optional: true }),
    secret: text({ internal: true, optional: true }),
    owner: belongsTo(() => users, { default: "caller" }),
  },
  filter: ["status", range("points")],
  sort: ["points", "title"],
  search: ["title"],
  policy: ({ caller }) => caller.role === "owner" || { ownerId: caller.userId },
  hooks: { before: { create: () => ({ secret: "inner" }) } },
});
const hidden = resource("trace", { exposed: false, fields: { note: text({ max: 50 }) } });
const declared = app({
  name: "Exports",
  resources: [notes, hidden],
  roles: { owner: "*", member: ["notes:read", "notes:write", "events:read"], guest: [] },
});

const count = 600;

onEachDatabase("exports", (database) => {
  const server = new TestServer();
  let ann = { id: "", key: "" };
  before(async () => {
    server.workspace = await makeWorkspace(database);
    server.portico = await Portico.startApp(server.workspace, declared);
    const { id } = await server.create("/users", { name: "Ann", email: "ann@example.com", role: "member" });
    const { key } = await makeKey(server, { scopes: ["*"], ownerId: id });
    ann = { id, key };
    const titles = ["=1+1", 'a "quoted", title', "two\nlines", "  spaced"];
    const rows = Array.from({ length: count }, (_, number) => ({
      title: titles[number] ?? `note ${number} ${number % 2 === 0 ? "even" : "odd"}`,
      points: number % 100 === 0 ? null : number,
      isOfAnn: number % 10 === 0,
    }));
    for (const isOfAnn of [true, false]) {
      const lines = rows.filter((row) => row.isOfAnn === isOfAnn);
      const body = lines.map(({ title, points }) => JSON.stringify({ title, points })).join("\n");
      const headers = { "content-type": "application/x-ndjson" };
      const key = isOfAnn ? { key: ann.key } : {};
      const { body: answer } = await server.request("/v1/imports/notes", {
        method: "POST",
        headers,
        body,
        ...key,
      });
      assert.equal(answer.created, lines.length);
    }
  });
  after(async () => {
    await server.portico?.stop();
    await server.workspace?.remove();
  });

  const get = (path: string, key = server.portico.key, headers = {}): Promise<Response> =>
    fetch(`${server.url}/v1/exports/${path}`, { headers: { "X-API-Key": key, ...headers } });
  const rowsOf = (ndjson: string): Answer["body"][] => {
    assert.ok(ndjson === "" || ndjson.endsWith("\n"));
    const lines = ndjson.split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  };
  const exported = async (query = "", key?: string): Promise<Answer["body"][]> => {
    const response = await get(`notes${query}`, key);
    assert.equal(response.status, 200);
    return rowsOf(await response.text());
  };

  /** An export that is not read to its end would take a turn of the next ones. */
  const total = async (query: string, key?: string): Promise<string | null> => {
    const response = await get(`notes?${query}`, key);
    await response.text();
    assert.equal(response.status, 200);
    return response.headers.get("Total-Count");
  };

  test("has every row once, by id, as lists show it", async () => {
    const rows = await exported();
    assert.equal(rows.length, count);
    const ids = rows.map(({ id }) => id);
    assert.deepEqual(ids, [...new Set(ids)].sort());
    const one = await server.request(`/notes/${ids[7]}`);
    assert.deepEqual(rows[7], one.body);
    assert.equal("secret" in rows[7], false);
  });

  test("has the filters, the search, the sorts and the fields of lists", async () => {
    const some = await exported("?points[gte]=100&points[lt]=200&sort=-points&fields=points,owner.name");
    assert.deepEqual(
      some.map(({ points }) => points),
      Array.from({ length: 99 }, (_, index) => 199 - index),
    );
    assert.deepEqual(Object.keys(some[0]!), ["id", "points", "owner"]);
    assert.deepEqual(Object.keys(some[0]!.owner), ["id", "name"]);
    assert.equal((await exported("?q=even")).length, count / 2 - 2);
    assert.equal((await exported("?status=done")).length, 0);
  });

  test("goes on behind a row, by id and by other sorts, and ends at its limit", async () => {
    for (const sort of ["id", "points,-title", "-points", "-createdAt"]) {
      const query = sort === "id" ? "?" : `?sort=${sort}&`;
      const all = (await exported(query)).map(({ id }) => id);
      const first = (await exported(`${query}limit=250`)).map(({ id }) => id);
      const rest = (await exported(`${query}after=${first.at(-1)}`)).map(({ id }) => id);
      assert.equal(first.length, 250);
      assert.deepEqual([...first, ...rest], all, sort);
    }
    assert.equal((await exported("?limit=1")).length, 1);
    assert.equal((await exported("?limit=99999999")).length, count);
    assert.equal((await exported("?limit=0")).length, count);
  });

  test("sends the number of its rows first, where it is asked for", async () => {
    assert.equal(await total("total=true"), String(count));
    assert.equal(await total("total=true&limit=7"), "7");
    assert.equal(await total("total=true&q=even"), String(count / 2 - 2));
    assert.equal(await total("total=false"), null);
  });

  test("has only rows and fields that the caller sees", async () => {
    const rows = await exported("", ann.key);
    assert.equal(rows.length, count / 10);
    assert.deepEqual([...new Set(rows.map(({ ownerId }) => ownerId))], [ann.id]);
    assert.equal(await total("total=true", ann.key), String(count / 10));
    const own = new Set(rows.map(({ id }) => id));
    const foreign = (await exported("?sort=title")).find(({ id }) => !own.has(id))!;
    const behind = await server.request(`/v1/exports/notes?sort=title&after=${foreign.id}`, { key: ann.key });
    expectAnswer(behind, { status: 422, code: "validation_error" });
    // Members may not read users, so not their names either.
    const nested = await server.request("/v1/exports/notes?fields=owner.name", { key: ann.key });
    expectAnswer(nested, { status: 403, code: "insufficient_scope" });
  });

  test("has no row of another tenant", async () => {
    const other = await makeTenant(server.workspace, "*");
    const theirs = rowsOf(await (await get("users", other.key)).text());
    assert.deepEqual(
      theirs.map(({ id }) => id),
      [other.userId],
    );
    const behind = await get(`notes?sort=title&after=${(await exported("?limit=1"))[0].id}`, other.key);
    assert.equal(behind.status, 422);
  });

  scenarios(server, [
    { fact: "refuses a request without a credential", path: "/v1/exports/notes", key: null, status: 401 },
    { fact: "exports no other collections", path: "/v1/exports/api-keys", status: 404 },
    { fact: "exports no rows that the API does not serve", path: "/v1/exports/traces", status: 404 },
    {
      fact: "refuses every unknown parameter and value",
      path: "/v1/exports/notes?cursor=x&format=xml&total=yes&colour=red&points[gte]=many",
      status: 422,
      details: [
        { field: "cursor", issue: "unknown" },
        { field: "format", issue: "choice" },
        { field: "total", issue: "choice" },
        { field: "colour", issue: "unknown" },
        { field: "points[gte]", issue: "type" },
      ],
    },
    { fact: "refuses an after that is no id", path: "/v1/exports/notes?after=1", status: 422 },
    { fact: "exports no internal field", path: "/v1/exports/notes?fields=secret", status: 422 },
    {
      fact: "exports events by the filters of their list only",
      path: "/v1/exports/events?total=true&cursor=x&sort=createdAt&fields=id&type=trace.created",
      status: 422,
      details: [
        { field: "total", issue: "unknown" },
        { field: "cursor", issue: "unknown" },
        { field: "sort", issue: "unknown" },
        { field: "fields", issue: "unknown" },
        { field: "type", issue: "choice" },
      ],
    },
    {
      fact: "refuses events after one that does not exist",
      path: "/v1/exports/events?after=event_01j00000000000000000000000",
      status: 422,
      details: [{ field: "after", issue: "reference" }],
    },
    { fact: "takes GET only", path: "/v1/exports/notes", method: "POST", body: {}, status: 405 },
  ]);

  test("refuses a credential without the scope", async () => {
    const { key } = await makeKey(server, { scopes: ["notes:write"] });
    expectAnswer(await server.request("/v1/exports/notes", { key }), {
      status: 403,
      code: "insufficient_scope",
    });
  });

  test("refuses a publishable key", async () => {
    const { key } = await makeKey(server, { type: "publishable", scopes: [] });
    for (const path of ["notes", "events"])
      expectAnswer(await server.request(`/v1/exports/${path}`, { key }), { status: 403 });
  });

  test("exports the events of rows that the caller sees, the oldest first", async () => {
    const events = async (query: string, key?: string) =>
      rowsOf(await (await get(`events?${query}`, key)).text());
    const all = await events("resource=note");
    assert.equal(all.length, count);
    assert.deepEqual(
      all.map(({ resourceId }) => resourceId).sort(),
      (await exported()).map(({ id }) => id),
    );
    const listed = await server.request("/v1/events?resource=note&sort=createdAt&limit=100");
    assert.deepEqual(all.slice(0, 100), listed.body.data);
    assert.deepEqual(await events(`resource=note&after=${all[299].id}`), all.slice(300));
    assert.deepEqual(await events("resource=note&limit=251"), all.slice(0, 251));
    const own = await events("", ann.key);
    assert.deepEqual([...new Set(own.map(({ data }) => data.ownerId))], [ann.id]);
    assert.equal(own.length, count / 10);
    assert.ok(all.every(({ data }) => !("secret" in data)));
    const other = await makeTenant(server.workspace, "*");
    assert.deepEqual(await events("resource=note", other.key), []);
    const { key } = await makeKey(server, { scopes: ["notes:read"] });
    expectAnswer(await server.request("/v1/exports/events", { key }), {
      status: 403,
      code: "insufficient_scope",
    });
  });

  test("exports events as CSV, with their rows as JSON", async () => {
    const [names, first] = (await (await get("events?resource=note&format=csv&limit=1")).text()).split(
      "\r\n",
    );
    assert.equal(names, "id,type,resource,resourceId,data,createdAt");
    assert.match(first!, /^event_\w+,note\.created,note,note_\w+,"\{""id"":""note_/);
  });

  test("exports users", async () => {
    const emails = rowsOf(await (await get("users?fields=email")).text()).map(({ email }) => email);
    assert.ok(emails.includes("ann@example.com"));
  });
});
