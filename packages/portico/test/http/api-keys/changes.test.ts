// Changes and revocation of API keys.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inDays, makeKey, opens, readKey } from "../../support/keys.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

onEachDatabase("a change of an API key", (database) => {
  const server = serve(database);
  const send = (method: string, id: string, body?: unknown, more: object = {}): Promise<Answer> =>
    server.request(`/v1/api-keys/${id}`, { method, ...(body !== undefined && { body }), ...more });
  const revoke = (id: string, headers: Record<string, string> = {}) =>
    server.request(`/v1/api-keys/${id}`, { method: "DELETE", headers });

  test("PATCH changes name, scopes and quota, which apply from the next request on", async () => {
    const { id, key, ...created } = await makeKey(server);
    const changed = await send("PATCH", id, { name: "Changed", scopes: ["users:read"] });
    expectAnswer(changed, {
      status: 200,
      body: { name: "Changed", scopes: ["users:read"], status: "active" },
    });
    assert.equal(changed.body.expiresAt, created.expiresAt);
    assert.deepEqual(Object.keys(changed.body).sort(), Object.keys(await readKey(server, id)).sort());
    expectAnswer(await server.request("/posts", { key }), { status: 403 });
    assert.equal(await opens(server, key, "/users"), true);
    const { body } = await send("PATCH", id, {});
    assert.equal(body.name, "Changed");
  });

  test("PATCH merges a quota, and null removes it", async () => {
    const { id, rateLimit } = await makeKey(server);
    assert.equal(rateLimit, null);
    const quotaAfter = async (rateLimit: unknown) =>
      (await send("PATCH", id, { rateLimit: rateLimit })).body.rateLimit;
    assert.deepEqual(await quotaAfter({ limit: 5 }), { limit: 5, windowSeconds: 60 });
    assert.deepEqual(await quotaAfter({ windowSeconds: 10 }), { limit: 5, windowSeconds: 10 });
    assert.deepEqual(await quotaAfter({ limit: 7, windowSeconds: null }), { limit: 7, windowSeconds: 60 });
    const refused = (issue: "required" | "type") =>
      ({ status: 422, details: [{ field: "rateLimit.limit", issue }] }) as const;
    expectAnswer(await send("PATCH", id, { rateLimit: { limit: null } }), refused("required"));
    assert.equal(await quotaAfter(null), null);
    expectAnswer(await send("PATCH", id, { rateLimit: { windowSeconds: 5 } }), refused("required"));
    expectAnswer(await send("PATCH", id, { rateLimit: { limit: "5" } }), refused("type"));
  });

  test("PUT replaces: a quota that is left out is removed, and scopes are required", async () => {
    const { id } = await makeKey(server, { rateLimit: { limit: 5 } });
    const replaced = await send("PUT", id, { name: "Whole", scopes: ["posts:write"] });
    expectAnswer(replaced, {
      status: 200,
      body: { name: "Whole", scopes: ["posts:write"], rateLimit: null },
    });
    expectAnswer(await send("PUT", id, { name: "Whole" }), {
      status: 422,
      details: [{ field: "scopes", issue: "required" }],
    });
    expectAnswer(await send("PUT", id, { name: "Whole", scopes: [], rateLimit: { limit: 0 }, status: "x" }), {
      status: 422,
      details: [
        { field: "rateLimit.limit", issue: "min" },
        { field: "status", issue: "read_only" },
      ],
    });
  });

  test("immutable and read-only fields are refused by PATCH and PUT, all reported at once", async () => {
    const { id, prefix, ownerId } = await makeKey(server);
    const fixed = { type: "secret", expiresAt: inDays(1), ownerId };
    const byServer = {
      id,
      prefix,
      status: "active",
      revokedAt: null,
      lastUsedAt: null,
      createdAt: inDays(0),
    };
    const body = {
      name: "",
      scopes: ["posts:fly"],
      rateLimit: { limit: -1, size: 1 },
      ...fixed,
      ...byServer,
    };
    for (const method of ["PATCH", "PUT"]) {
      expectAnswer(await send(method, id, body), {
        status: 422,
        details: [
          { field: "name", issue: "min" },
          { field: "scopes", issue: "choice" },
          { field: "rateLimit.limit", issue: "min" },
          { field: "rateLimit.size", issue: "unknown" },
          ...Object.keys({ ...fixed, ...byServer }).map((field) => ({ field, issue: "read_only" }) as const),
        ],
      });
    }
    assert.equal((await readKey(server, id)).name, "Made");
  });

  test("a caller cannot grant a scope that it lacks, even to a key that has it already", async () => {
    const { key } = await makeKey(server, { scopes: ["keys:manage", "posts:read"] });
    const { id } = await makeKey(server, { scopes: ["posts:read", "posts:write"] });
    const refused = { status: 403, code: "insufficient_scope", message: /posts:write/ } as const;
    const scopes = ["posts:read", "posts:write"];
    expectAnswer(await send("PATCH", id, { scopes }, { key }), refused);
    expectAnswer(await send("PUT", id, { name: "x", scopes }, { key }), refused);
    expectAnswer(await send("PATCH", id, { name: "Named by another" }, { key }), { status: 200 });
    expectAnswer(await send("PATCH", id, { scopes: ["posts:read"] }, { key }), { status: 200 });
    expectAnswer(await send("PATCH", id, { scopes }, { key }), refused);
  });

  test("a key cannot extend its own scopes", async () => {
    const { key, id } = await makeKey(server, { scopes: ["keys:manage"] });
    expectAnswer(await send("PATCH", id, { scopes: ["keys:manage", "keys:read"] }, { key }), {
      status: 403,
      message: /keys:read/,
    });
  });

  test("changes with the same If-Match succeed once", async () => {
    const { id } = await makeKey(server);
    const tag = (await server.request(`/v1/api-keys/${id}`)).headers.get("etag")!;
    const headers = { "if-match": tag };
    const changed = await send("PATCH", id, { name: "First" }, { headers });
    assert.notEqual(changed.headers.get("etag"), tag);
    expectAnswer(await send("PATCH", id, { name: "Second" }, { headers }), { status: 412 });
    expectAnswer(await revoke(id, headers), { status: 412, code: "precondition_failed" });
    assert.equal((await readKey(server, id)).status, "active");
    expectAnswer(await revoke(id, { "if-match": changed.headers.get("etag")! }), { status: 204 });
  });

  test("DELETE revokes: the next request is refused, the record stays, and again is 204", async () => {
    const { id, key } = await makeKey(server);
    assert.equal(await opens(server, key), true);
    const answer = await revoke(id);
    expectAnswer(answer, { status: 204 });
    assert.equal(answer.text, "");
    assert.equal(await opens(server, key), false);
    const record = await readKey(server, id);
    assert.equal(record.status, "revoked");
    assert.equal(record.revokedAt, record.updatedAt);
    expectAnswer(await revoke(id), { status: 204 });
    assert.deepEqual(await readKey(server, id), record);
  });

  test("a key revokes itself and is then refused", async () => {
    const { id, key } = await makeKey(server, { scopes: ["keys:manage"] });
    expectAnswer(await server.request(`/v1/api-keys/${id}`, { method: "DELETE", key }), { status: 204 });
    expectAnswer(await server.request(`/v1/api-keys/${id}`, { method: "DELETE", key }), { status: 401 });
  });

  test("a revoked key cannot be changed", async () => {
    const { id } = await makeKey(server);
    await revoke(id);
    for (const [method, body] of [
      ["PATCH", { name: "x" }],
      ["PATCH", {}],
      ["PUT", { name: "x", scopes: [] }],
    ] as const)
      expectAnswer(await send(method, id, body), { status: 409, code: "conflict", message: /revoked/ });
  });

  test("an unknown id is 404", async () => {
    for (const id of ["x", "api_key_00000000000000000000000000", "post_00000000000000000000000000"]) {
      expectAnswer(await send("GET", id), { status: 404 });
      expectAnswer(await send("PATCH", id, { name: "x" }), { status: 404 });
      expectAnswer(await send("PUT", id, { name: "x", scopes: [] }), { status: 404 });
      expectAnswer(await revoke(id), { status: 404 });
      expectAnswer(await server.request(`/v1/api-keys/${id}/rotations`, { method: "POST" }), { status: 404 });
    }
  });
});
