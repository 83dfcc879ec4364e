// Idempotency-Key: a request runs once, whatever happens to it, and its repetitions get the same response.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { users } from "../../../src/auth/users/resource.ts";
import { app } from "../../../src/declare/app.ts";
import { belongsTo, integer, text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { openReader } from "../../support/database-reader.ts";
import { makeKey } from "../../support/keys.ts";
import { expectAnswer, TestServer } from "../../support/scenario.ts";
import { type Answer, makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

const orders = resource("order", {
  fields: {
    title: text({ min: 1, max: 50 }),
    owner: belongsTo(() => users, { default: "caller" }),
    count: integer({ default: 0 }),
  },
  unique: [["title"]],
  filter: ["title"],
  policy: ({ caller }) => caller.role === "owner" || { ownerId: caller.userId },
  actions: {
    additions: {
      verb: "add",
      input: {},
      run: ({ current: { id, count }, rows }): Promise<{ id: string }> =>
        rows.update(orders, id, { count: Number(count) + 1 }),
    },
  },
});
const payments = resource("payment", { fields: { amount: integer() }, idempotencyKey: "required" });
const failing = resource("failure", {
  fields: { code: text({ max: 20 }) },
  hooks: {
    after: {
      create: () => {
        throw new Error("planned");
      },
    },
  },
});
const member = ["orders:read", "orders:write", "keys:read", "keys:manage"];
const declared = app({ name: "Shop", resources: [orders, payments, failing], roles: { owner: "*", member } });

onEachDatabase("Idempotency-Key", (database) => {
  const server = new TestServer();
  before(async () => {
    server.workspace = await makeWorkspace(database);
    server.portico = await Portico.startApp(server.workspace, declared);
  });
  after(async () => {
    await server.portico?.stop();
    await server.workspace?.remove();
  });

  let keys = 0;
  const newKey = (): string => `key-${++keys}`;
  const send = (
    path: string,
    body: unknown,
    idempotencyKey: string,
    options: Parameters<TestServer["request"]>[1] = {},
  ) =>
    server.request(path, {
      body,
      ...options,
      headers: { "idempotency-key": idempotencyKey, ...options.headers },
    });
  const contents = ({ status, text: body, headers }: Answer) => ({
    ...{ status, body },
    headers: ["location", "etag", "content-type"].map((name) => headers.get(name)),
  });
  const isReplayed = ({ headers }: Answer): boolean => headers.get("idempotent-replayed") === "true";
  const count = async (path: string): Promise<number> => (await server.request(path)).body.data.length;
  const graphql = (query: string, idempotencyKey?: string) =>
    server.request("/graphql", {
      body: { query },
      headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey },
    });

  const expectGraphqlError = ({ status, body }: Answer, expected: number, code: string): void => {
    assert.equal(status, expected);
    assert.equal(body.errors[0].extensions.code, code);
  };

  test("a repeated create gets the same status, headers and body, and creates one row", async () => {
    const key = newKey();
    const first = await send("/orders", { title: "Once" }, key);
    expectAnswer(first, { status: 201 });
    assert.equal(isReplayed(first), false);
    for (const path of ["/orders", "/v1/orders"]) {
      const again = await send(path, { title: "Once" }, key);
      assert.equal(isReplayed(again), true);
      assert.deepEqual(contents(again), contents(first));
    }
    assert.equal(await count("/orders?title=Once"), 1);
    const other = await send("/orders", { title: "Twice" }, key);
    expectAnswer(other, { status: 422, code: "idempotency_key_reused" });
    expectAnswer(await send("/orders?x=1", { title: "Once" }, key), {
      status: 422,
      code: "idempotency_key_reused",
    });
  });

  test("a repeated update, and a repeated action, take effect once", async () => {
    const order = await server.create("/orders", { title: "Changing" });
    const key = newKey();
    const patch = {
      method: "PATCH",
      headers: { "if-match": (await server.request(`/orders/${order.id}`)).headers.get("etag")! },
    };
    const first = await send(`/orders/${order.id}`, { count: 5 }, key, patch);
    expectAnswer(first, { status: 200 });
    // Without the key, the row has changed since.
    assert.deepEqual(contents(await send(`/orders/${order.id}`, { count: 5 }, key, patch)), contents(first));
    const withoutMatch = await send(`/orders/${order.id}`, { count: 5 }, key, { method: "PATCH" });
    expectAnswer(withoutMatch, { status: 422, code: "idempotency_key_reused" });
    const action = newKey();
    for (let n = 0; n < 3; n += 1)
      expectAnswer(await send(`/orders/${order.id}/additions`, {}, action), {
        status: 201,
        body: { count: 6 },
      });
  });

  test("an error is repeated too, unless it says nothing about the request", async () => {
    await server.create("/orders", { title: "Taken" });
    for (const [body, status] of [
      [{ title: "" }, 422],
      [{ title: "Taken" }, 409],
    ] as const) {
      const key = newKey();
      const first = await send("/orders", body, key);
      const again = await send("/orders", body, key);
      assert.deepEqual([first.status, isReplayed(first), isReplayed(again)], [status, false, true]);
      assert.deepEqual(contents(again), contents(first));
    }
    const broken = newKey();
    for (let n = 0; n < 2; n += 1) {
      const answer = await send("/failures", { code: "x" }, broken);
      assert.deepEqual([answer.status, isReplayed(answer)], [500, false]);
    }
    assert.equal(await count("/failures"), 0);
    const { key: weak, id } = await makeKey(server, { scopes: ["orders:read"] });
    const key = newKey();
    expectAnswer(await send("/orders", { title: "Scoped" }, key, { key: weak }), { status: 403 });
    const scopes = ["orders:read", "orders:write"];
    expectAnswer(await server.request(`/v1/api-keys/${id}`, { method: "PATCH", body: { scopes } }), {
      status: 200,
    });
    const allowed = await send("/orders", { title: "Scoped" }, key, { key: weak });
    assert.deepEqual([allowed.status, isReplayed(allowed)], [201, false]);
  });

  test("a key belongs to a credential, which must still be allowed to see the result", async () => {
    const { id } = await server.create("/users", { name: "Ann", email: "ann@example.com", role: "member" });
    const credential = await makeKey(server, { scopes: ["*"], ownerId: id });
    const other = await makeKey(server, { scopes: ["*"], ownerId: id });
    const key = newKey();
    const first = await send("/orders", { title: "Hers" }, key, { key: credential.key });
    expectAnswer(first, { status: 201 });
    // Another credential runs the request, and the title is taken.
    expectAnswer(await send("/orders", { title: "Hers" }, key, { key: other.key }), { status: 409 });
    const repeat = () => send("/orders", { title: "Hers" }, key, { key: credential.key });
    assert.deepEqual(contents(await repeat()), contents(first));
    const me = (await server.request("/v1/me")).body.user.id;
    const handOver = (ownerId: string) =>
      server.request(`/orders/${first.body.id}`, { method: "PATCH", body: { ownerId } });
    expectAnswer(await handOver(me), { status: 200 });
    expectAnswer(await repeat(), { status: 404, code: "not_found" });
    expectAnswer(await handOver(id), { status: 200 });
    assert.deepEqual(contents(await repeat()), contents(first));
    expectAnswer(await server.request(`/orders/${first.body.id}`, { method: "DELETE" }), { status: 204 });
    // Of a row that has been deleted, its last answer decides.
    assert.deepEqual(contents(await repeat()), contents(first));
    expectAnswer(
      await server.request(`/v1/api-keys/${credential.id}`, {
        method: "PATCH",
        body: { scopes: ["keys:read"] },
      }),
      { status: 200 },
    );
    expectAnswer(await repeat(), { status: 403, code: "insufficient_scope" });
    expectAnswer(await server.request(`/v1/api-keys/${credential.id}`, { method: "DELETE" }), {
      status: 204,
    });
    expectAnswer(await repeat(), { status: 401, code: "invalid_credential" });
  });

  test("what is shown once is shown again to who repeats the request, and is stored encrypted", async () => {
    const key = newKey();
    const body = { name: "Secret", scopes: ["orders:read"] };
    const first = await send("/v1/api-keys", body, key);
    const again = await send("/v1/api-keys", body, key);
    assert.deepEqual([again.body.key, isReplayed(again)], [first.body.key, true]);
    const reader = openReader(server.workspace.databaseUrl);
    const stored = (await reader.rows("select answer from idempotency_keys")).map(([answer]) =>
      String(answer),
    );
    assert.ok(stored.length > 5);
    assert.equal(
      stored.some((answer) => answer.includes(first.body.key) || answer.includes("Secret")),
      false,
    );
    // As after PORTICO_SECRET was replaced.
    await reader.write(`update idempotency_keys set answer = 'unreadable' where key = '${key}'`);
    await reader.close();
    expectAnswer(await send("/v1/api-keys", body, key), { status: 409, code: "conflict" });
  });

  test("of 50 equal requests at once, one creates the row, and the others get its answer or are told to wait", async () => {
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => send("/orders", { title: "Rush" }, key)),
    );
    const created = answers.filter(({ status }) => status === 201);
    assert.equal(created.filter((answer) => !isReplayed(answer)).length, 1);
    assert.equal(new Set(created.map((answer) => JSON.stringify(contents(answer)))).size, 1);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectAnswer(answer, { status: 409, code: "idempotency_in_progress", headers: { "retry-after": "1" } });
    assert.equal(await count("/orders?title=Rush"), 1);
    assert.deepEqual(contents(await send("/orders", { title: "Rush" }, key)), contents(created[0]!));
  });

  test("a declaration can require the header", async () => {
    expectAnswer(await server.request("/payments", { body: { amount: 1 } }), {
      status: 400,
      code: "idempotency_key_required",
    });
    const { id } = (await send("/payments", { amount: 1 }, newKey())).body;
    const refused = await server.request(`/payments/${id}`, { method: "PATCH", body: { amount: 2 } });
    expectAnswer(refused, { status: 400, code: "idempotency_key_required" });
    expectAnswer(await server.request(`/payments/${id}`, { method: "DELETE" }), { status: 204 });
    const mutation = "mutation { createPayment(input: { amount: 3 }) { id } }";
    expectGraphqlError(await graphql(mutation), 400, "idempotency_key_required");
    expectAnswer(await graphql(mutation, newKey()), { status: 200 });
  });

  test("a key has 1 to 255 visible characters", async () => {
    for (const key of ["", "a b", "x".repeat(256), "é"])
      expectAnswer(await send("/orders", { title: "Key" }, key), { status: 400, code: "malformed_request" });
    expectAnswer(await send("/orders", { title: "Key" }, "x".repeat(255)), { status: 201 });
  });

  test("mutations of GraphQL run once, one or several, with their errors", async () => {
    const title = async (...titles: string[]) =>
      titles
        .map(
          (each, index) => `m${index}: createOrder(input: { title: "${each}" }) { id title owner { name } }`,
        )
        .join(" ");
    for (const titles of [["Alone"], ["Left", "Right"], ["New", "Taken"]]) {
      const key = newKey();
      const query = `mutation { ${await title(...titles)} }`;
      const first = await graphql(query, key);
      const again = await graphql(query, key);
      assert.deepEqual([first.status, isReplayed(first), isReplayed(again)], [200, false, true], first.text);
      assert.deepEqual(again.body, first.body);
    }
    assert.deepEqual(
      await Promise.all(["Alone", "Left", "Right", "New"].map((each) => count(`/orders?title=${each}`))),
      [1, 1, 1, 0],
    );
    const key = newKey();
    await graphql(`mutation { ${await title("One")} }`, key);
    const reused = await graphql(`mutation { ${await title("Two")} }`, key);
    expectGraphqlError(reused, 422, "idempotency_key_reused");
    // A query needs no key, and is not stored.
    assert.equal(isReplayed(await graphql("{ orders { id } }", key)), false);
  });
});
