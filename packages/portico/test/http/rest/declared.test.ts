// Declared resources over HTTP: hooks, policies, operations, versions and deprecations.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { before, describe, test } from "node:test";
import { expectAnswer, runCommand, serve, type TestServer } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/workshop");

onEachDatabase("declared resources", (database) => {
  const server = serve(database, { cwd });
  describe("hooks", () => hooks(server));
  describe("policies", () => policies(server));
  describe("operations", () => operations(server));
  describe("versions and deprecations", () => versionsAndDeprecations(server));
});

function hooks(server: TestServer): void {
  const tool = async (): Promise<string> => (await server.create("/tools", { name: "Used" })).id;
  const use = (id: string, purpose: string): Promise<Answer> =>
    server.request(`/tools/${id}/uses`, { body: { purpose } });
  const count = async (id: string): Promise<number> => (await server.request(`/tools/${id}`)).body.count;

  test("a hook changes the written row, and other rows in the same transaction", async () => {
    const id = await tool();
    expectAnswer(await use(id, "  cut  "), { status: 201, body: { purpose: "cut" } });
    assert.equal(await count(id), 2);
  });

  test("a hook that throws an API error is rolled back, and its error is returned", async () => {
    const id = await tool();
    await use(id, "one");
    await use(id, "two");
    expectAnswer(await use(id, "three"), { status: 409, code: "conflict", message: /worn out/ });
    assert.equal(await count(id), 3);
    assert.equal((await server.request(`/tools/${id}/uses`)).body.data.length, 2);
    expectAnswer(await use(await tool(), "forbidden"), { status: 403, code: "forbidden" });
  });

  test("a hook that fails is rolled back; the sandbox and the log report everything except credentials", async () => {
    const id = await tool();
    const broken = await use(id, "crash");
    expectAnswer(broken, {
      status: 500,
      code: "internal_error",
      message:
        /^In the hook after\.create of use: Error: on purpose, with sk_test_\[redacted\], at (?:[\w-]+\/)*portico\.config\.ts:\d+:\d+\./,
    });
    assert.equal(await count(id), 1);
    assert.deepEqual((await server.request(`/tools/${id}/uses`)).body.data, []);
    const requestId = broken.headers.get("x-request-id")!;
    while (!server.portico.output.includes(`"requestId":"${requestId}"`)) await server.request("/healthz");
    assert.match(server.portico.output, /on purpose/);
    assert.doesNotMatch(server.portico.output, /sk_test_inside/);
  });

  test("a hook may refuse a delete", async () => {
    const { id } = (await use(await tool(), "kept")).body;
    expectAnswer(await server.request(`/uses/${id}`, { method: "DELETE" }), { status: 409, message: /kept/ });
    expectAnswer(await server.request(`/uses/${id}`), { status: 200 });
  });

  test("concurrent uses are counted one after another: none is lost and none exceeds the limit", async () => {
    const id = await tool();
    const answers = await Promise.all(["a", "b", "c", "d", "e"].map((purpose) => use(id, purpose)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 409, 409, 409]);
    assert.equal(await count(id), 3);
  });
}

function policies(server: TestServer): void {
  let otherKey = "";
  let otherId = "";
  before(async () => {
    const run = (call: string, ...more: string[]) =>
      runCommand(server.workspace, [...call.split(" "), ...more], { cwd });
    const { user } = await run("user create --name Mary --email mary@example.com --password 12345678");
    otherId = user.id;
    const scopes = "diaries:read,diaries:write,diary-pages:read,diary-pages:write,users:read";
    otherKey = (await run("key create --name Mary --user", otherId, "--scopes", scopes)).key;
  });

  test("another user's row is 404 in every operation, and in no list", async () => {
    const { id } = await server.create("/diaries", { text: "mine" });
    await server.create(`/diaries/${id}/diary-pages`, { text: "mine" });
    const path = `/diaries/${id}`;
    for (const options of [
      {},
      { method: "PUT", body: { text: "x" } },
      { method: "PATCH", body: { text: "x" } },
      { method: "DELETE" },
    ]) {
      expectAnswer(await server.request(path, { ...options, key: otherKey }), {
        status: 404,
        code: "not_found",
      });
    }
    assert.deepEqual((await server.request("/diaries", { key: otherKey })).body.data, []);
    expectAnswer(await server.request(`${path}/diary-pages`, { key: otherKey }), { status: 404 });
    expectAnswer(await server.request(`${path}/diary-pages`, { key: otherKey, body: { text: "x" } }), {
      status: 404,
    });
    assert.equal((await server.request("/diaries")).body.data.length, 1);
  });

  test("creating a row that its creator could not see is forbidden", async () => {
    const forbidden = { status: 403, code: "forbidden" } as const;
    expectAnswer(await server.request("/diaries", { body: { text: "x", ownerId: otherId } }), forbidden);
    const { id } = await server.create("/diaries", { text: "kept" });
    expectAnswer(
      await server.request(`/diaries/${id}`, { method: "PATCH", body: { ownerId: otherId } }),
      forbidden,
    );
    expectAnswer(await server.request(`/diaries/${id}`), { status: 200, body: { text: "kept" } });
  });

  test("a row that is selected through a reference is subject to its own policy", async () => {
    const { id } = await server.create("/diaries", { text: "private" });
    const page = await server.create(`/diaries/${id}/diary-pages`, { text: "open" });
    const { body } = await server.request(`/diary-pages/${page.id}?fields=text,diary.text`, {
      key: otherKey,
    });
    assert.equal(body.diary, null);
    const own = await server.request(`/diary-pages/${page.id}?fields=text,diary.text`);
    assert.equal(own.body.diary.text, "private");
  });
}

function operations(server: TestServer): void {
  test("an undeclared operation is 405, and the others work", async () => {
    const { id } = await server.create("/receipts", { total: "12.50" });
    const path = `/receipts/${id}`;
    expectAnswer(await server.request(path), { status: 200, body: { total: "12.50" } });
    expectAnswer(await server.request("/receipts"), { status: 200 });
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const refused = await server.request(path, { method, body: { total: "0" } });
      expectAnswer(refused, {
        status: 405,
        code: "method_not_allowed",
        headers: { allow: "GET, HEAD, OPTIONS" },
      });
    }
  });
}

function versionsAndDeprecations(server: TestServer): void {
  const announced = (answer: Answer) => [answer.headers.get("deprecation"), answer.headers.get("sunset")];
  const at = (date: string) => `@${Date.parse(date) / 1000}`;

  test("a resource of another version is available under that version only", async () => {
    expectAnswer(await server.request("/v0/formers"), { status: 200 });
    expectAnswer(await server.request("/formers"), { status: 404 });
    expectAnswer(await server.request("/v1/formers"), { status: 404 });
    const created = await server.request("/v0/formers", { body: { name: "x" } });
    assert.equal(created.headers.get("location"), `/v0/formers/${created.body.id}`);
  });

  test("a deprecated resource has the headers in every response", async () => {
    const expected = [at("2026-01-01"), "Wed, 30 Jun 2027 00:00:00 GMT"];
    const created = await server.request("/v0/formers", { body: { name: "x" } });
    const path = `/v0/formers/${created.body.id}`;
    const answers = [
      created,
      await server.request("/v0/formers"),
      await server.request(path),
      await server.request(path, { method: "PATCH", body: {} }),
      await server.request(path, { method: "DELETE" }),
    ];
    for (const answer of answers) assert.deepEqual(announced(answer), expected, `${answer.status}`);
  });

  test("a deprecated field has the headers in responses to requests that name it, with the earliest date", async () => {
    const since = at("2026-03-01");
    const earlier = [at("2026-02-01"), "Sun, 31 Jan 2027 00:00:00 GMT"];
    const create = (body: object) => server.request("/latters", { body: { name: "x", ...body } });
    assert.deepEqual(announced(await create({})), [null, null]);
    assert.deepEqual(announced(await create({ title: "x" })), [since, null]);
    assert.deepEqual(announced(await create({ title: "x", colour: "red" })), earlier);
    assert.deepEqual(announced(await server.request("/latters")), [null, null]);
    assert.deepEqual(announced(await server.request("/latters?sort=-title")), [since, null]);
    assert.deepEqual(announced(await server.request("/latters?fields=name,colour")), earlier);
    assert.deepEqual(announced(await server.request("/latters?fields=name,%20colour")), earlier);
  });
}
