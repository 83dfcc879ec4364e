// Who gets the stored answer of a request with an Idempotency-Key, how many answers are stored, and which requests take
// a key.

import assert from "node:assert/strict";
import { request as sendRaw } from "node:http";
import { after, before, test } from "node:test";
import { users } from "../../../src/auth/users/resource.ts";
import { app } from "../../../src/declare/app.ts";
import { belongsTo, text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { openReader } from "../../support/database-reader.ts";
import { makeKey } from "../../support/keys.ts";
import { expectAnswer, TestServer } from "../../support/scenario.ts";
import { type Answer, makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

const folders = resource("folder", {
  fields: { name: text({ max: 50 }), owner: belongsTo(() => users, { default: "caller" }) },
  policy: ({ caller }) => caller.role === "owner" || { ownerId: caller.userId },
});
const notes = resource("note", {
  fields: { title: text({ max: 50 }), folder: belongsTo(() => folders, { optional: true }) },
  policy: ({ caller }) => caller.role === "owner" || caller.role === "member",
});
const remarks = resource("remark", {
  parent: notes,
  fields: { body: text({ max: 50 }), folder: belongsTo(() => folders) },
});
const scopes = ["folders", "notes", "remarks"].flatMap((name) => [`${name}:read`, `${name}:write`]);
const declared = app({
  name: "Notes",
  resources: [folders, notes, remarks],
  roles: { owner: "*", member: scopes, guest: scopes },
});

onEachDatabase("answers to requests with an Idempotency-Key", (database) => {
  const server = new TestServer();
  let member: string;
  let key: string;
  let me: string;
  before(async () => {
    server.workspace = await makeWorkspace(database);
    server.portico = await Portico.startApp(server.workspace, declared);
    me = (await server.request("/v1/me")).body.user.id;
    const person = { name: "Ann", email: "ann@example.com", role: "member" };
    member = (await server.create("/users", person)).id;
    key = (await makeKey(server, { scopes, ownerId: member })).key;
  });
  after(async () => {
    await server.portico?.stop();
    await server.workspace?.remove();
  });

  let keys = 0;
  const headersWith = (value = `key-${++keys}`) => ({ "idempotency-key": value });
  const isReplayed = ({ headers }: Answer): boolean => headers.get("idempotent-replayed") === "true";
  const graphqlOf = (query: string) => {
    const headers = headersWith();
    return () => server.request("/graphql", { body: { query }, headers, key });
  };
  const giveTo = async (id: string, ownerId: string): Promise<void> => {
    const given = await server.request(`/folders/${id}`, { method: "PATCH", body: { ownerId } });
    expectAnswer(given, { status: 200 });
  };
  const expectHidden = ({ body, text: received }: Answer): void => {
    assert.equal(body.errors?.[0].extensions.code, "not_found", received);
    assert.equal(received.includes("Secret"), false);
  };
  const withRole = async (role: string, work: () => Promise<void>): Promise<void> => {
    const give = (each: string) =>
      server.request(`/users/${member}`, { method: "PATCH", body: { role: each } });
    expectAnswer(await give(role), { status: 200 });
    await work();
    expectAnswer(await give("member"), { status: 200 });
  };

  test("a deleted row is shown again only to who might see it still", async () => {
    const { id } = await server.create("/notes", { title: "Secret" }, { key });
    const repeat = graphqlOf(`mutation { deleteNote(id: "${id}") { title } }`);
    assert.deepEqual((await repeat()).body.data, { deleteNote: { title: "Secret" } });
    assert.equal(isReplayed(await repeat()), true);
    await withRole("guest", async () => expectHidden(await repeat()));
    assert.deepEqual((await repeat()).body.data, { deleteNote: { title: "Secret" } });
  });

  test("nested rows are shown again only while the caller may see them", async () => {
    const folder = (await server.create("/folders", { name: "Secret" }, { key })).id;
    const { id } = await server.create("/notes", { title: "Nested", folderId: folder }, { key });
    await server.create(`/notes/${id}/remarks`, { body: "One", folderId: folder }, { key });
    for (const query of [
      `mutation { updateNote(id: "${id}", input: { title: "One" }) { title folder { id: name } } }`,
      `mutation { createNote(input: { title: "Two", folderId: "${folder}" }) { n0: title here: folder { name } } }`,
      `mutation { updateNote(id: "${id}", input: { title: "Deep" }) { remarks { folder { name } } } }`,
      `mutation { deleteNote(id: "${id}") { folder { name } } }`,
    ]) {
      const repeat = graphqlOf(query);
      const first = await repeat();
      assert.ok(first.text.includes("Secret"), first.text);
      assert.deepEqual([isReplayed(await repeat()), (await repeat()).text], [true, first.text]);
      await giveTo(folder, me);
      expectHidden(await repeat());
      await giveTo(folder, member);
      assert.equal((await repeat()).text, first.text);
    }
  });

  test("operations that would ignore the key refuse it", async () => {
    const endpoint = "/v1/webhook-endpoints/webhook_endpoint_01m7ykwq5rem7b4vk0v3tv81cm";
    const answer = await server.request(`${endpoint}/tests`, { method: "POST", headers: headersWith() });
    expectAnswer(answer, { status: 400, code: "malformed_request", message: /Idempotency-Key/ });
    const streamed = await server.request("/graphql", {
      body: { query: 'mutation { createNote(input: { title: "Streamed" }) { id } }' },
      headers: { ...headersWith(), accept: "text/event-stream" },
    });
    assert.equal(streamed.status, 400, streamed.text);
    assert.equal(streamed.body.errors[0].extensions.code, "malformed_request");
    // A key is harmless where requests can be repeated anyway.
    expectAnswer(await server.request("/notes", { headers: headersWith() }), { status: 200 });
  });

  test("PATCH /v1/me takes effect once, and its answer belongs to who may change the user", async () => {
    const options = { method: "PATCH", body: { name: "Anna" }, headers: headersWith(), key };
    const first = await server.request("/v1/me", options);
    expectAnswer(first, { status: 200, body: { user: { name: "Anna" } } });
    const rename = (name: string) => server.request("/v1/me", { method: "PATCH", body: { name }, key });
    expectAnswer(await rename("Ann"), { status: 200 });
    const again = await server.request("/v1/me", options);
    assert.deepEqual([isReplayed(again), again.text], [true, first.text]);
    expectAnswer(await server.request("/v1/me", { key }), { status: 200, body: { user: { name: "Ann" } } });
    const other = await server.request("/v1/me", { ...options, body: { name: "Anne" } });
    expectAnswer(other, { status: 422, code: "idempotency_key_reused" });
    const wrong = { ...options, body: { role: "owner" }, headers: headersWith() };
    for (const replayed of [false, true]) {
      const refused = await server.request("/v1/me", wrong);
      expectAnswer(refused, { status: 422, details: [{ field: "role", issue: "read_only" }] });
      assert.equal(isReplayed(refused), replayed);
    }
  });

  test("a replay of webhook events is queued once", async () => {
    const from = new Date().toISOString();
    const endpoint = { url: "http://127.0.0.1:9/", eventTypes: ["note.*"], status: "disabled" };
    const { id } = await server.create("/v1/webhook-endpoints", endpoint);
    await server.create("/notes", { title: "Replayed" });
    const path = `/v1/webhook-endpoints/${id}`;
    const options = { body: { from }, headers: headersWith() };
    const ofDisabled = { ...options, headers: headersWith() };
    for (const replayed of [false, true]) {
      const refused = await server.request(`${path}/replays`, ofDisabled);
      expectAnswer(refused, { status: 409, code: "conflict" });
      assert.equal(isReplayed(refused), replayed);
    }
    expectAnswer(await server.request(path, { method: "PATCH", body: { status: "enabled" } }), {
      status: 200,
    });
    const [first, ...others] = [
      await server.request(`${path}/replays`, options),
      ...(await Promise.all([1, 2].map(() => server.request(`${path}/replays`, options)))),
    ];
    expectAnswer(first!, { status: 202, body: { count: 1 } });
    expectAnswer(await server.request(path, { method: "PATCH", body: { status: "disabled" } }), {
      status: 200,
    });
    for (const again of [...others, await server.request(`${path}/replays`, options)])
      if (again.status === 202) assert.deepEqual([isReplayed(again), again.text], [true, first!.text]);
      else expectAnswer(again, { status: 409, code: "idempotency_in_progress" });
    const deliveries = await server.request(`/v1/webhook-deliveries?endpointId=${id}`);
    assert.equal(deliveries.body.data.length, 1);
  });

  test("an answer is kept for 24 hours", async () => {
    const options = { body: { title: "Daily" }, headers: headersWith() };
    const first = await server.create("/notes", options.body, options);
    const reader = openReader(server.workspace.databaseUrl);
    const age = (hours: number) =>
      reader.write(
        `update idempotency_keys set created_at = '${new Date(Date.now() - hours * 3_600_000).toISOString()}' where key = 'key-${keys}'`,
      );
    await age(23.9);
    assert.equal((await server.create("/notes", options.body, options)).id, first.id);
    await age(24.1);
    await reader.close();
    const second = await server.create("/notes", options.body, options);
    assert.notEqual(second.id, first.id);
    assert.equal((await server.create("/notes", options.body, options)).id, second.id);
  });

  test("a header that is sent twice is no key", async () => {
    const { key: credential, url } = server.portico;
    const status = await new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${credential}`, "content-type": "application/json" };
      sendRaw(
        `${url}/notes`,
        { method: "POST", headers: { ...headers, "idempotency-key": ["a", "b"] } },
        (answer) => resolve(answer.resume().statusCode),
      )
        .on("error", reject)
        .end('{"title":"Twice"}');
    });
    assert.equal(status, 400);
  });

  test("two servers run a request once between them", async () => {
    const other = await Portico.startApp(server.workspace, declared, { key: server.portico.key });
    try {
      const options = { body: { title: "Once" }, headers: headersWith() };
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 ? other : server.portico).request("/notes", options),
        ),
      );
      const first = answers.filter((answer) => answer.status === 201 && !isReplayed(answer));
      assert.equal(first.length, 1);
      for (const answer of answers)
        if (answer.status === 201) assert.equal(answer.text, first[0]!.text);
        else expectAnswer(answer, { status: 409, code: "idempotency_in_progress" });
    } finally {
      await other.stop();
    }
  });

  test("a tenant whose answers take too much space gets the stored ones, and no others", async () => {
    const stored = { body: { title: "Stored" }, headers: headersWith() };
    expectAnswer(await server.request("/notes", stored), { status: 201 });
    const reader = openReader(server.workspace.databaseUrl);
    await reader.write(`update idempotency_keys set bytes = 268435456 where key = 'key-${keys}'`);
    await reader.close();
    await server.portico.stop();
    server.portico = await Portico.startApp(server.workspace, declared, { key: server.portico.key });
    const create = () => server.request("/notes", { body: { title: "Refused" }, headers: headersWith() });
    // The answers are counted soon after the start.
    let refused = await create();
    for (const until = Date.now() + 5_000; refused.status === 201 && Date.now() < until; )
      refused = await create();
    expectAnswer(refused, { status: 429, code: "rate_limited", headers: { "retry-after": "3600" } });
    assert.equal(isReplayed(await server.request("/notes", stored)), true);
    expectAnswer(await server.request("/notes", { body: { title: "No key" } }), { status: 201 });
  });
});
