// The event log: what happened to the rows that a caller sees, newest first, in pages of bounded work.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { users } from "../../../src/auth/users/resource.ts";
import { app } from "../../../src/declare/app.ts";
import { belongsTo, text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { openReader } from "../../support/database-reader.ts";
import { makeKey } from "../../support/keys.ts";
import { expectAnswer, scenarios, TestServer } from "../../support/scenario.ts";
import { type Answer, makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

const boards = resource("board", {
  fields: {
    name: text({ max: 50 }),
    code: text({ internal: true, optional: true }),
    owner: belongsTo(() => users, { default: "caller" }),
  },
  policy: ({ caller }) => caller.role === "owner" || { ownerId: caller.userId },
  hooks: { before: { create: () => ({ code: "inner" }) } },
});
const cards = resource("boardCard", { parent: boards, fields: { title: text({ max: 50 }) } });
const hidden = resource("trace", { exposed: false, fields: { note: text({ max: 50 }) } });
const declared = app({
  name: "Events",
  resources: [boards, cards, hidden],
  roles: {
    owner: "*",
    member: ["boards:read", "boards:write", "board-cards:read", "board-cards:write", "events:read"],
  },
});

interface LoggedEvent {
  readonly id: string;
  readonly type: string;
  readonly resource: string;
  readonly resourceId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
}

onEachDatabase("the event log", (database) => {
  const server = new TestServer();
  /** Two members: their keys and ids. */
  let ann = { id: "", key: "" };
  let bob = { id: "", key: "" };
  before(async () => {
    server.workspace = await makeWorkspace(database);
    server.portico = await Portico.startApp(server.workspace, declared);
    [ann, bob] = [await member("ann"), await member("bob")];
  });
  after(async () => {
    await server.portico?.stop();
    await server.workspace?.remove();
  });

  const member = async (name: string) => {
    const { id } = await server.create("/users", { name, email: `${name}@example.com`, role: "member" });
    const { key } = await makeKey(server, { scopes: ["*"], ownerId: id });
    return { id, key };
  };
  const list = async (query = "", key = server.portico.key): Promise<Answer> => {
    const answer = await server.request(`/v1/events${query}`, { key });
    expectAnswer(answer, { status: 200 });
    return answer;
  };
  const events = async (query = "", key?: string): Promise<readonly LoggedEvent[]> =>
    (await list(query, key)).body.data;
  const summary = (listed: readonly LoggedEvent[]) =>
    listed.map(({ type, resourceId }) => [type, resourceId]);
  const board = (name: string, { key } = ann) => server.create("/boards", { name }, { key });
  const card = ({ id }: { id: string }, title: string) =>
    server.create(`/boards/${id}/board-cards`, { title });
  const change = async (
    path: string,
    method: string,
    body?: object,
    key = server.portico.key,
  ): Promise<Answer> => {
    const answer = await server.request(path, { method, key, ...(body && { body }) });
    assert.ok(answer.status < 300, answer.text);
    return answer;
  };
  /** All events of a list, page by page, and the texts of `Link`. */
  const pages = async (query: string, key?: string): Promise<readonly LoggedEvent[]> => {
    const found: LoggedEvent[] = [];
    let cursor = "";
    do {
      const { body } = await list(`${query}${cursor && `&cursor=${cursor}`}`, key);
      found.push(...body.data);
      assert.equal(body.pagination.hasMore, body.pagination.nextCursor !== null);
      cursor = body.pagination.nextCursor ?? "";
    } while (cursor !== "");
    return found;
  };

  test("has each write of a row as the API shows it, newest first", async () => {
    const made = await board("First");
    const { body: changed } = await change(`/boards/${made.id}`, "PATCH", { name: "Second" }, ann.key);
    const child = await card(made, "On it");
    await change(`/boards/${made.id}`, "DELETE");
    const [first, second, third, fourth, fifth] = await events("?limit=5");
    assert.deepEqual(
      [first, second, third, fourth, fifth].map((each) => [
        each!.type,
        each!.resource,
        each!.resourceId,
        each!.data,
      ]),
      [
        ["board.deleted", "board", made.id, changed],
        ["board_card.deleted", "board_card", child.id, child],
        ["board_card.created", "board_card", child.id, child],
        ["board.updated", "board", made.id, changed],
        ["board.created", "board", made.id, made],
      ],
    );
    assert.equal("code" in fifth!.data, false);
    assert.match(first!.id, /^event_[0-9a-z]{26}$/);
    assert.deepEqual(Object.keys(first!), ["id", "type", "resource", "resourceId", "data", "createdAt"]);
    const one = await server.request(`/v1/events/${third!.id}`);
    expectAnswer(one, { status: 200 });
    assert.deepEqual(one.body, third);
    expectAnswer(await server.request(`/events/${third!.id}`), { status: 404 });
  });

  test("has no secrets, and no rows that the API does not serve", async () => {
    await makeKey(server, { scopes: ["boards:read"] });
    const [created] = await events("?type=api_key.created&limit=1");
    assert.deepEqual(
      [created!.resource, "key" in created!.data, "keyHash" in created!.data],
      ["api_key", false, false],
    );
    const resources = new Set((await pages("?limit=100")).map((each) => each.resource));
    assert.deepEqual([...resources].sort(), ["api_key", "board", "board_card", "user"]);
  });

  test("filters by type, resource, row and time", async () => {
    const [one, other] = [await board("One"), await board("Other")];
    await card(one, "Card");
    await change(`/boards/${one.id}`, "PATCH", { name: "Uno" });
    assert.deepEqual(summary(await events(`?resourceId=${one.id}`)), [
      ["board.updated", one.id],
      ["board.created", one.id],
    ]);
    const both = `?resourceId=${one.id}&resourceId=${other.id}`;
    assert.equal((await events(both)).length, 3);
    assert.deepEqual(summary(await events(`${both}&type=board.created`)), [
      ["board.created", other.id],
      ["board.created", one.id],
    ]);
    assert.deepEqual(await events(`${both}&resource=board_card`), []);
    const all = await events(both);
    const [updated, , created] = all;
    const since = (operator: string, { createdAt }: LoggedEvent) => `&createdAt[${operator}]=${createdAt}`;
    const expected = (keep: (at: string) => boolean) => all.filter(({ createdAt }) => keep(createdAt));
    assert.deepEqual(
      await events(both + since("gte", updated!)),
      expected((at) => at >= updated!.createdAt),
    );
    assert.deepEqual(
      await events(both + since("gt", created!)),
      expected((at) => at > created!.createdAt),
    );
    assert.deepEqual(
      await events(both + since("lte", created!)),
      expected((at) => at <= created!.createdAt),
    );
    assert.deepEqual(
      await events(both + since("lt", updated!)),
      expected((at) => at < updated!.createdAt),
    );
    assert.deepEqual(await events(`${both}&createdAt[gte]=2001-01-01&createdAt[lt]=2002-01-01`), []);
    const afterCreated = await events(`?after=${created!.id}&sort=createdAt&limit=100`);
    assert.deepEqual(summary(afterCreated).slice(0, 1), [["board.created", other.id]]);
    assert.deepEqual(afterCreated.at(-1), updated);
  });

  test("pages lead through every event once, in both orders and directions", async () => {
    const newest = await pages("?limit=100");
    assert.ok(newest.length > 10);
    assert.deepEqual(await pages("?limit=3"), newest);
    assert.deepEqual(await pages("?limit=3&sort=createdAt"), newest.toReversed());
    assert.deepEqual(
      await pages("?limit=3&type=board.created"),
      newest.filter(({ type }) => type === "board.created"),
    );
    const { body, headers } = await list("?limit=2");
    const { prevCursor, nextCursor } = body.pagination;
    assert.match(
      headers.get("link")!,
      new RegExp(`^</v1/events\\?limit=2&cursor=${nextCursor}>; rel="next"$`),
    );
    const second = await list(`?limit=2&cursor=${nextCursor}`);
    const back = await list(`?limit=2&direction=backward&cursor=${second.body.pagination.prevCursor}`);
    assert.deepEqual(back.body.data, newest.slice(0, 2));
    assert.equal(back.body.pagination.hasMore, false);
    assert.deepEqual((await list(`?limit=2&cursor=${back.body.pagination.nextCursor}`)).body, second.body);
    // What happens later follows the first event that a reader has seen.
    const later = [await board("Later"), await board("Latest")];
    const followed = await list(`?direction=backward&cursor=${prevCursor}`);
    assert.deepEqual(summary(followed.body.data), summary(await events("?limit=2")));
    assert.equal(followed.body.data[1].resourceId, later[0].id);
  });

  test("a caller sees the events of rows that it may read now, and of resources whose scope it has", async () => {
    const mine = await board("Mine", ann);
    const his = await board("His", bob);
    const child = await card(his, "His card");
    const seen = async (key: string) => (await pages("?limit=100", key)).map(({ resourceId }) => resourceId);
    const ofAnn = await seen(ann.key);
    assert.ok(ofAnn.includes(mine.id) && !ofAnn.includes(his.id) && !ofAnn.includes(child.id));
    const ofBob = await seen(bob.key);
    assert.ok(!ofBob.includes(mine.id) && ofBob.includes(his.id) && ofBob.includes(child.id));
    const [event] = await events(`?resourceId=${child.id}`, bob.key);
    expectAnswer(await server.request(`/v1/events/${event!.id}`, { key: bob.key }), { status: 200 });
    const unseen = { status: 404, code: "not_found" } as const;
    expectAnswer(await server.request(`/v1/events/${event!.id}`, { key: ann.key }), unseen);
    // The parent of the card is another person's from now on.
    await change(`/boards/${his.id}`, "PATCH", { ownerId: ann.id });
    assert.deepEqual(await events(`?resourceId=${child.id}`, bob.key), []);
    assert.equal((await events(`?resourceId=${child.id}`, ann.key)).length, 1);
    const { key } = await makeKey(server, { scopes: ["events:read", "board-cards:read"], ownerId: ann.id });
    const resources = new Set((await pages("?limit=100", key)).map((each) => each.resource));
    assert.deepEqual([...resources], ["board_card"]);
    const without = await makeKey(server, { scopes: ["boards:read"], ownerId: ann.id });
    expectAnswer(await server.request("/v1/events", { key: without.key }), {
      status: 403,
      code: "insufficient_scope",
    });
  });

  test("a page ends after a bounded number of events that the caller does not see", async () => {
    const mine = await board("Before many", ann);
    const reader = openReader(server.workspace.databaseUrl);
    const hiddenRow = JSON.stringify({ ...mine, ownerId: bob.id });
    const copy = `('event_hidden', (select no from tenants limit 1), 'board', 'board.created', 'hidden', '${hiddenRow}', 'none', '${new Date().toISOString()}')`;
    for (let inserted = 0; inserted < 6_000; inserted += 1_000)
      await reader.write(
        `insert into events (id, tenant_no, resource, kind, row_id, row, credential_id, created_at) values ${Array(1_000).fill(copy).join()}`,
      );
    const { data, pagination } = (await list("", ann.key)).body;
    assert.deepEqual([data, pagination.hasMore], [[], true]);
    const rest = await list(`?limit=1&cursor=${pagination.nextCursor}`, ann.key);
    assert.equal(rest.body.data[0].resourceId, mine.id);
    const [event] = await events(
      `?resourceId=${mine.id}&sort=createdAt&limit=1&createdAt[lt]=2100-01-01`,
      ann.key,
    );
    const followed = await list(`?sort=createdAt&after=${event!.id}`, ann.key);
    assert.deepEqual([followed.body.data, followed.body.pagination.hasMore], [[], true]);
    await reader.write("delete from events where row_id = 'hidden'");
    await reader.close();
  });

  test("a reader that resumes before the oldest event that is kept is told so", async () => {
    const ids = [await board("Gone 1"), await board("Gone 2"), await board("Kept")].map(({ id }) => id);
    const { pagination } = (await list(`?limit=1&resourceId=${ids[0]}`)).body;
    const [gone] = await events(`?resourceId=${ids[0]}`);
    const reader = openReader(server.workspace.databaseUrl);
    const columns = database === "sqlite" ? "0" : "transaction_id";
    await reader.write(`insert into purged_events (tenant_no, resource, sequence, transaction_id)
      select tenant_no, resource, sequence, ${columns} from events where row_id = '${ids[1]}'`);
    await reader.write(`delete from events where row_id in ('${ids[0]}', '${ids[1]}')`);
    await reader.close();
    const resumed = await server.request(
      `/v1/events?limit=1&resourceId=${ids[0]}&direction=backward&cursor=${pagination.prevCursor}`,
    );
    expectAnswer(resumed, {
      status: 422,
      details: [{ field: "cursor", issue: "min" }],
      message: /have been deleted/,
    });
    const after = await server.request(`/v1/events?after=${gone!.id}`);
    expectAnswer(after, { status: 422, details: [{ field: "after", issue: "reference" }] });
    expectAnswer(await server.request(`/v1/events/${gone!.id}`), { status: 404, code: "not_found" });
  });

  const invalid = { status: 422, code: "validation_error" } as const;
  scenarios(server, [
    {
      fact: "an unknown parameter is refused",
      path: "/v1/events?kind=x",
      ...invalid,
      details: [{ field: "kind", issue: "unknown" }],
    },
    {
      fact: "an unknown type is refused",
      path: "/v1/events?type=trace.created",
      ...invalid,
      details: [{ field: "type", issue: "choice" }],
    },
    {
      fact: "an unknown resource is refused",
      path: "/v1/events?resource=email",
      ...invalid,
      details: [{ field: "resource", issue: "choice" }],
    },
    {
      fact: "a wrong time is refused",
      path: "/v1/events?createdAt[gte]=soon",
      ...invalid,
      details: [{ field: "createdAt[gte]", issue: "format" }],
    },
    {
      fact: "a wrong sort is refused",
      path: "/v1/events?sort=type",
      ...invalid,
      details: [{ field: "sort", issue: "choice" }],
    },
    {
      fact: "an invalid cursor is refused",
      path: "/v1/events?cursor=eyJ4Ijo",
      status: 400,
      code: "invalid_cursor",
    },
    {
      fact: "a cursor of other filters is refused",
      path: async () =>
        `/v1/events?resource=board&cursor=${(await list("?limit=1")).body.pagination.nextCursor}`,
      status: 400,
      code: "invalid_cursor",
    },
    {
      fact: "an id of no event is not found",
      path: "/v1/events/event_01k00000000000000000000000",
      status: 404,
      code: "not_found",
    },
    { fact: "a text that is no id is not found", path: "/v1/events/%00", status: 404 },
    { fact: "an event takes no parameters", path: "/v1/events/x?fields=id", ...invalid },
    {
      fact: "events cannot be written",
      path: "/v1/events",
      body: {},
      status: 405,
      code: "method_not_allowed",
    },
  ]);
});
