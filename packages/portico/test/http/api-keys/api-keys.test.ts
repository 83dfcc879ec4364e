// API keys are created, read and listed over HTTP. A key is returned once, its hash never.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openReader } from "../../support/database-reader.ts";
import { firstTenant, inDays, makeKey, opens } from "../../support/keys.ts";
import { type Expected, expectAnswer, type Scenario, scenarios, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("API keys", (database) => {
  const server = serve(database);
  const keys = async (query: string) => (await server.request(`/v1/api-keys?${query}`)).body;

  test("a new key is returned once, with a warning and the whole record", async () => {
    const answer = await server.request("/v1/api-keys", {
      body: { name: "CI", scopes: ["posts:read", "deploy:write"], rateLimit: { limit: 50 } },
    });
    const { id, key, createdAt, updatedAt, expiresAt, ownerId, ...rest } = answer.body;
    expectAnswer(answer, { status: 201, headers: { location: `/v1/api-keys/${id}` } });
    assert.match(id, /^api_key_/);
    assert.match(key, /^sk_test_[\w-]{43}$/);
    assert.match(ownerId, /^user_/);
    assert.equal(createdAt, updatedAt);
    assert.equal(expiresAt, aYearAfter(createdAt));
    assert.deepEqual(rest, {
      name: "CI",
      prefix: key.slice(0, 12),
      type: "secret",
      scopes: ["posts:read", "deploy:write"],
      rateLimit: { limit: 50, windowSeconds: 60 },
      status: "active",
      revokedAt: null,
      lastUsedAt: null,
      rotatedFromId: null,
      rotatedToId: null,
      warning: "Store the key now: it is not shown again.",
    });
    assert.equal(await opens(server, key), true);
    expectAnswer(await server.request("/posts", { key, body: { title: "x" } }), { status: 403 });
  });

  test("the ETag of the response is that of the record without the key", async () => {
    const created = await server.request("/v1/api-keys", { body: { name: "Tagged", scopes: [] } });
    const read = await server.request(`/v1/api-keys/${created.body.id}`);
    assert.equal(read.headers.get("etag"), created.headers.get("etag"));
  });

  test("neither the key nor its hash is in any later response, in the log or in plain text in the database", async () => {
    const { id, key } = await makeKey(server);
    const path = `/v1/api-keys/${id}`;
    const tenant = (await server.command("tenant", "create", "--name", "X")).tenant.id;
    const answers = [
      await server.request(path),
      await server.request("/v1/api-keys?limit=100"),
      await server.request("/v1/api-keys?fields=name,prefix,status"),
      await server.request(`/v1/tenants/${tenant}/api-keys`),
      await server.request(path, { method: "PATCH", body: { name: "Renamed" } }),
      await server.request(path, { method: "PUT", body: { name: "Replaced", scopes: ["posts:read"] } }),
      await server.request(path, { key }),
      await server.request(`/v1/api-keys/${key}`),
      await server.request("/posts", { key, headers: { "x-request-id": key } }),
    ];
    const everything = answers.map(({ text, headers }) => text + JSON.stringify([...headers])).join("\n");
    assert.ok(!everything.includes(key) && !everything.includes(key.slice(12)));
    assert.doesNotMatch(everything, /hash|warning|\b[0-9a-f]{64}\b/i);
    for (const until = Date.now() + 5_000; Date.now() < until && !server.portico.output.includes(id); )
      await server.request("/healthz");
    assert.ok(!server.portico.output.includes(key.slice(12)));
    const reader = openReader(server.workspace.databaseUrl);
    try {
      const events = JSON.stringify(await reader.rows("select * from events"));
      assert.ok(events.includes(id) && !events.includes(key.slice(12)));
      assert.doesNotMatch(events, /hash|\b[0-9a-f]{64}\b/i);
      assert.ok(!JSON.stringify(await reader.rows("select * from api_keys")).includes(key));
    } finally {
      await reader.close();
    }
  });

  test("a key without an expiry, or with null, expires after a year", async () => {
    const { createdAt, expiresAt } = await makeKey(server, { expiresAt: null });
    assert.equal(expiresAt, aYearAfter(createdAt));
    assert.equal(
      (await makeKey(server, { expiresAt: "2027-01-31T10:00:00+01:00" })).expiresAt,
      "2027-01-31T09:00:00.000Z",
    );
  });

  test("the owner is the caller's user unless another one is named", async () => {
    const user = await server.create("/users", { name: "Grace", email: "grace@example.com" });
    const caller = (await server.request("/users?email=ada@example.com")).body.data[0].id;
    assert.equal((await makeKey(server)).ownerId, caller);
    assert.equal((await makeKey(server, { ownerId: user.id })).ownerId, user.id);
  });

  test("a key cannot grant a scope that it lacks, and the error names the scope", async () => {
    const { key } = await makeKey(server, { scopes: ["keys:manage", "posts:read"] });
    const mint = (scopes: string[]) =>
      server.request("/v1/api-keys", { key, body: { name: "More", scopes } });
    expectAnswer(await mint(["posts:read", "posts:write"]), {
      status: 403,
      code: "insufficient_scope",
      message: /posts:write/,
      details: [{ field: "scopes", issue: "choice" }],
    });
    expectAnswer(await mint(["keys:read"]), { status: 403, message: /keys:read/ });
    expectAnswer(await mint(["posts:read"]), { status: 201 });
    expectAnswer(await mint([]), { status: 201 });
  });

  test("a key with * has every scope, and only such a key can grant it", async () => {
    const all = await makeKey(server, { scopes: ["*"] });
    assert.deepEqual(all.scopes, ["*"]);
    for (const path of ["/posts", "/projects", "/users", "/v1/api-keys"])
      expectAnswer(await server.request(path, { key: all.key }), { status: 200 });
    const { key } = await makeKey(server, { scopes: ["keys:manage", "posts:read"] });
    const refused: Expected = { status: 403, code: "insufficient_scope", message: /the scope \*/ };
    for (const scopes of [["*"], ["posts:read", "*"]])
      expectAnswer(await server.request("/v1/api-keys", { key, body: { name: "More", scopes } }), refused);
    const rotation = { key, method: "POST", body: {} };
    expectAnswer(await server.request(`/v1/api-keys/${all.id}/rotations`, rotation), refused);
    const reduction = { method: "PATCH", body: { scopes: ["posts:read"] } };
    expectAnswer(await server.request(`/v1/api-keys/${all.id}`, reduction), { status: 200 });
    expectAnswer(await server.request("/projects", { key: all.key }), { status: 403 });
  });

  test("keys:read reads and keys:manage writes, and neither does the other", async () => {
    const reader = (await makeKey(server, { scopes: ["keys:read"] })).key;
    const { key: manager, id } = await makeKey(server, { scopes: ["keys:manage"] });
    const missingScope = (scope: string) =>
      ({ status: 403, code: "insufficient_scope", message: new RegExp(scope) }) as const;
    const path = `/v1/api-keys/${id}`;
    const tenantId = await firstTenant(server.workspace);
    const { ownerId } = (await server.request(path)).body;
    const lists = ["/v1/api-keys", `/v1/tenants/${tenantId}/api-keys`, `/v1/users/${ownerId}/api-keys`];
    for (const each of [path, ...lists]) {
      expectAnswer(await server.request(each, { key: reader }), { status: 200 });
      expectAnswer(await server.request(each, { key: manager }), missingScope("keys:read"));
      expectAnswer(
        await server.request(each, { key: reader, method: "DELETE" }),
        each === "/v1/api-keys" ? { status: 405 } : missingScope("keys:manage"),
      );
    }
    for (const [method, at] of [
      ["POST", "/v1/api-keys"],
      ["PATCH", path],
      ["PUT", path],
      ["POST", `${path}/rotations`],
    ])
      expectAnswer(
        await server.request(at!, { key: reader, method: method!, body: {} }),
        missingScope("keys:manage"),
      );
  });

  test("keys are listed newest first, in pages that contain each of them once", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1)
      ids.unshift((await makeKey(server, { name: `Page ${count}` })).id);
    const walked: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { data, pagination } = await keys(`limit=2&fields=name${cursor && `&cursor=${cursor}`}`);
      walked.push(...data.map(({ id }: { id: string }) => id));
      cursor = pagination.nextCursor;
    }
    assert.deepEqual(walked.slice(0, 5), ids);
    assert.equal(new Set(walked).size, walked.length);
  });

  test("a list is filtered by status and owner, and a repeated status matches either value", async () => {
    const user = await server.create("/users", { name: "Mary", email: "mary@example.com" });
    const make = (body: object = {}) => makeKey(server, { ownerId: user.id, ...body });
    const [active, soon, revoked] = [await make(), await make({ expiresAt: inDays(3) }), await make()];
    await server.request(`/v1/api-keys/${revoked.id}`, { method: "DELETE" });
    const idsOf = async (query: string) =>
      (await keys(`ownerId=${user.id}&${query}`)).data.map(({ id }: { id: string }) => id);
    assert.deepEqual(await idsOf("fields=name"), [revoked.id, soon.id, active.id]);
    assert.deepEqual(await idsOf("status=active"), [active.id]);
    assert.deepEqual(await idsOf("status=expiring_soon"), [soon.id]);
    assert.deepEqual(await idsOf("status=revoked&status=active"), [revoked.id, active.id]);
    assert.deepEqual(await idsOf("status=expired"), []);
    const first = await keys(`ownerId=${user.id}&status=revoked&status=active&limit=1`);
    assert.deepEqual(
      await idsOf(`status=revoked&status=active&limit=1&cursor=${first.pagination.nextCursor}`),
      [active.id],
    );
    const below = (await server.request(`/v1/users/${user.id}/api-keys?status=active`)).body.data;
    assert.deepEqual(
      below.map(({ id }: { id: string }) => id),
      [active.id],
    );
    const two = await keys(`ownerId=${user.id}&ownerId=${user.id.replace(/.$/, "0")}&status=active`);
    assert.deepEqual(
      two.data.map(({ status }: { status: string }) => status),
      ["active"],
    );
  });

  test("fields selects single members, including the status and the owner", async () => {
    const { id } = await makeKey(server);
    assert.deepEqual((await server.request(`/v1/api-keys/${id}?fields=status`)).body, {
      id,
      status: "active",
    });
    const { owner } = (await server.request(`/v1/api-keys/${id}?fields=owner.name`)).body;
    assert.equal(owner.name, "Ada Lovelace");
    assert.deepEqual((await keys("limit=1&fields=status")).data, [{ id, status: "active" }]);
  });

  scenarios(server, [...faultyBodies(), ...faultyQueries()]);

  test("all errors of a body are reported at once", async () => {
    const body = {
      name: "",
      scopes: ["posts:fly", 7],
      rateLimit: { limit: 0, windowSeconds: 1.5, colour: "red" },
      type: "golden",
      expiresAt: "soon",
      status: "active",
      keyHash: "x",
      prefix: "x",
      colour: "red",
    };
    expectAnswer(await server.request("/v1/api-keys", { body }), {
      status: 422,
      details: [
        { field: "name", issue: "min" },
        { field: "scopes.1", issue: "type" },
        { field: "rateLimit.limit", issue: "min" },
        { field: "rateLimit.windowSeconds", issue: "type" },
        { field: "rateLimit.colour", issue: "unknown" },
        { field: "type", issue: "choice" },
        { field: "expiresAt", issue: "format" },
        { field: "status", issue: "read_only" },
        { field: "keyHash", issue: "unknown" },
        { field: "prefix", issue: "read_only" },
        { field: "colour", issue: "unknown" },
      ],
    });
    const rules = { name: "", scopes: ["posts:fly"], expiresAt: inDays(-1) };
    expectAnswer(await server.request("/v1/api-keys", { body: rules }), {
      status: 422,
      details: [
        { field: "name", issue: "min" },
        { field: "scopes", issue: "choice" },
        { field: "expiresAt", issue: "min" },
      ],
    });
  });
});

function faultyBodies(): Scenario[] {
  const good = { name: "x", scopes: ["posts:read"] };
  return (
    [
      ["no name", { scopes: [] }, "name", "required"],
      ["no scopes", { name: "x" }, "scopes", "required"],
      ["a scope twice", { ...good, scopes: ["posts:read", "posts:read"] }, "scopes", "duplicate"],
      ["scopes as text", { ...good, scopes: "posts:read" }, "scopes", "type"],
      ["101 scopes", { ...good, scopes: Array.from({ length: 101 }, (_, at) => `s:${at}`) }, "scopes", "max"],
      ["null as scopes", { ...good, scopes: null }, "scopes", "type"],
      ["an unknown scope", { ...good, scopes: ["posts:fly"] }, "scopes", "choice"],
      ["a name of 201 characters", { ...good, name: "x".repeat(201) }, "name", "max"],
      ["an expiry that has passed", { ...good, expiresAt: inDays(-1) }, "expiresAt", "min"],
      ["an expiry in more than two years", { ...good, expiresAt: inDays(732) }, "expiresAt", "max"],
      ["a leap second", { ...good, expiresAt: "2027-06-30T23:59:60Z" }, "expiresAt", "format"],
      [
        "a quota without a limit",
        { ...good, rateLimit: { windowSeconds: 1 } },
        "rateLimit.limit",
        "required",
      ],
      ["a quota that is a number", { ...good, rateLimit: 5 }, "rateLimit", "type"],
      [
        "an owner that does not exist",
        { ...good, ownerId: "user_00000000000000000000000000" },
        "ownerId",
        "reference",
      ],
      ["a revocation time", { ...good, revokedAt: null }, "revokedAt", "read_only"],
      ["a chosen key", { ...good, key: `sk_test_${"a".repeat(43)}` }, "key", "unknown"],
      ["a predecessor", { ...good, rotatedFromId: "x" }, "rotatedFromId", "read_only"],
      ["a time of last use", { ...good, lastUsedAt: inDays(0) }, "lastUsedAt", "read_only"],
    ] as const
  ).map(([fact, body, field, issue]) => ({
    fact: `a key with ${fact} is refused`,
    path: "/v1/api-keys",
    body,
    status: 422,
    details: [{ field, issue }],
  }));
}

function faultyQueries(): Scenario[] {
  return (
    [
      ["status=dead", "status", "choice"],
      ["sort=status", "sort", "choice"],
      ["keyHash=x", "keyHash", "unknown"],
      ["fields=keyHash", "fields", "unknown"],
      ["fields=key", "fields", "unknown"],
      ["prefix=x", "prefix", "unknown"],
      ["q=x", "q", "unknown"],
    ] as const
  ).map(([query, field, issue]) => ({
    fact: `keys are not listed by ${query}`,
    path: `/v1/api-keys?${query}`,
    status: 422,
    details: [{ field, issue }],
  }));
}

/** The same date and time in the next year. */
function aYearAfter(timestamp: string): string {
  const date = new Date(timestamp);
  date.setUTCFullYear(date.getUTCFullYear() + 1);
  return date.toISOString();
}
