// Rotation: a replacement with the same name, scopes and quota, and an overlap in which both keys are valid.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { dayMs, inDays, makeKey, opens, readKey, setTime } from "../../support/keys.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase, type RequestOptions } from "../../support/server.ts";

const lifetime = (key: { createdAt: string; expiresAt: string | null }): number =>
  Date.parse(key.expiresAt!) - Date.parse(key.createdAt);

onEachDatabase("rotation of an API key", (database) => {
  const server = serve(database);
  const rotate = (id: string, body?: unknown, options: RequestOptions = {}): Promise<Answer> =>
    server.request(`/v1/api-keys/${id}/rotations`, {
      method: "POST",
      ...(body !== undefined && { body }),
      ...options,
    });

  test("the response is the replacement with its key, a warning and its location", async () => {
    const old = await makeKey(server, { name: "CI", rateLimit: { limit: 5 }, expiresAt: inDays(30) });
    const answer = await rotate(old.id, {});
    const { key, warning, ...record } = answer.body;
    expectAnswer(answer, {
      status: 201,
      headers: { location: `/v1/api-keys/${record.id}` },
      body: {
        name: "CI",
        type: "secret",
        scopes: old.scopes,
        rateLimit: { limit: 5, windowSeconds: 60 },
        ownerId: old.ownerId,
        status: "active",
        rotatedFromId: old.id,
        rotatedToId: null,
      },
    });
    assert.notEqual(key, old.key);
    assert.equal(key.slice(0, 12), record.prefix);
    assert.match(warning, /not shown again/);
    assert.equal(lifetime(record), lifetime(old));
    assert.deepEqual(await readKey(server, record.id), record);
  });

  test("both keys are valid during the overlap, which is a day by default", async () => {
    const old = await makeKey(server);
    const { body: replacement } = await rotate(old.id);
    assert.deepEqual([await opens(server, old.key), await opens(server, replacement.key)], [true, true]);
    const record = await readKey(server, old.id);
    assert.equal(Date.parse(record.expiresAt!) - Date.parse(replacement.createdAt), dayMs);
    assert.equal(record.status, "expiring_soon");
    assert.equal(record.rotatedToId, replacement.id);
  });

  test("the old key expires at the end of the overlap", async () => {
    const old = await makeKey(server);
    const { body: replacement } = await rotate(old.id, { overlapSeconds: 2 });
    assert.equal(await opens(server, old.key), true);
    await sleep(Date.parse((await readKey(server, old.id)).expiresAt!) - Date.now() + 5);
    assert.deepEqual([await opens(server, old.key), await opens(server, replacement.key)], [false, true]);
    assert.equal((await readKey(server, old.id)).status, "expired");
  });

  test("an overlap of 0 revokes the old key immediately", async () => {
    const old = await makeKey(server);
    const { body: replacement } = await rotate(old.id, { overlapSeconds: 0 });
    assert.deepEqual([await opens(server, old.key), await opens(server, replacement.key)], [false, true]);
  });

  test("an overlap never extends the expiry of the old key", async () => {
    const old = await makeKey(server, { expiresAt: inDays(2) });
    await rotate(old.id, { overlapSeconds: 30 * 86_400 });
    assert.equal((await readKey(server, old.id)).expiresAt, old.expiresAt);
  });

  test("a key that is rotated again, for example because the first response was lost, gets a replacement with the same lifetime", async () => {
    const old = await makeKey(server, { expiresAt: inDays(100) });
    const { body: first } = await rotate(old.id, { overlapSeconds: 60 });
    const { body: second } = await rotate(old.id, { overlapSeconds: 60 });
    const { body: third } = await rotate(first.id, { overlapSeconds: 60 });
    const { body: fourth } = await rotate(old.id, { overlapSeconds: 60 });
    for (const replacement of [first, second, third, fourth])
      assert.equal(lifetime(replacement), lifetime(old));
    for (const { key } of [old, first, second, third, fourth]) assert.equal(await opens(server, key), true);
  });

  test("concurrent rotations all succeed, each with its own key", async () => {
    const old = await makeKey(server);
    const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(old.id)));
    for (const answer of answers) {
      expectAnswer(answer, { status: 201 });
      assert.equal(lifetime(answer.body), lifetime(old));
      assert.equal(await opens(server, answer.body.key), true);
    }
    assert.equal(new Set(answers.map(({ body }) => body.key)).size, 5);
  });

  test("the body can be omitted, also with a media type or a length of 0", async () => {
    const headersOf: readonly Record<string, string>[] = [
      {},
      { "content-type": "application/json" },
      { "content-length": "0" },
    ];
    for (const headers of headersOf) {
      const { id } = await makeKey(server);
      expectAnswer(await rotate(id, undefined, { headers }), { status: 201 });
    }
  });

  test("an invalid body is refused without any effect", async () => {
    const { id } = await makeKey(server);
    const overlap = (issue: "type" | "min" | "max") => [{ field: "overlapSeconds", issue }] as const;
    for (const [body, details] of [
      [{ overlapSeconds: -1 }, overlap("min")],
      [{ overlapSeconds: 30 * 86_400 + 1 }, overlap("max")],
      [{ overlapSeconds: 1.5 }, overlap("type")],
      [{ overlapSeconds: "60" }, overlap("type")],
      [{ overlapSeconds: null }, overlap("type")],
      [{ name: "x", overlapSeconds: -1 }, [{ field: "name", issue: "unknown" }, ...overlap("min")]],
      [[], [{ field: "", issue: "type" }]],
      ["null", [{ field: "", issue: "type" }]],
    ] as const)
      expectAnswer(await rotate(id, body), { status: 422, code: "validation_error", details });
    expectAnswer(await rotate(id, "{"), { status: 400 });
    expectAnswer(await rotate(id, "{}", { headers: { "content-type": "text/plain" } }), { status: 415 });
    const query = await server.request(`/v1/api-keys/${id}/rotations?overlapSeconds=1`, { method: "POST" });
    expectAnswer(query, { status: 422, details: [{ field: "overlapSeconds", issue: "unknown" }] });
    assert.equal((await readKey(server, id)).rotatedToId, null);
  });

  test("a revoked or expired key cannot be rotated", async () => {
    const [revoked, expired] = [await makeKey(server), await makeKey(server)];
    await server.request(`/v1/api-keys/${revoked.id}`, { method: "DELETE" });
    await setTime(server.workspace, expired.id, "expires_at", inDays(-1));
    for (const [{ id }, message] of [
      [revoked, /revoked/],
      [expired, /expired/],
    ] as const)
      expectAnswer(await rotate(id), { status: 409, code: "conflict", message });
  });

  test("a caller that lacks a scope of the key cannot rotate it, and the error names the scope", async () => {
    const { id } = await makeKey(server, { scopes: ["posts:read", "posts:write"] });
    const { key } = await makeKey(server, { scopes: ["keys:manage", "posts:read"] });
    expectAnswer(await rotate(id, {}, { key }), {
      status: 403,
      code: "insufficient_scope",
      message: /posts:write/,
    });
    assert.equal((await readKey(server, id)).rotatedToId, null);
  });

  test("a key rotates itself", async () => {
    const { id, key } = await makeKey(server, { scopes: ["keys:manage"] });
    const { body } = await rotate(id, { overlapSeconds: 0 }, { key });
    assert.equal((await rotate(body.id, {}, { key: body.key })).status, 201);
    expectAnswer(await rotate(id, {}, { key }), { status: 401 });
  });

  test("a publishable key has a publishable replacement", async () => {
    const { id } = await makeKey(server, { type: "publishable" });
    assert.match((await rotate(id)).body.key, /^pk_test_/);
  });

  test("the replacement has the owner of the old key, or none, whoever the caller is", async () => {
    const user = await server.create("/users", { name: "Grace", email: "grace@example.com" });
    assert.equal((await rotate((await makeKey(server, { ownerId: user.id })).id)).body.ownerId, user.id);
    const { tenant } = await server.command("tenant", "create", "--name", "Empty");
    const scopes = ["keys:manage", "users:write"];
    const words = ["--name", "Without owner", "--scopes", scopes.join(), "--tenant", tenant.id];
    const unowned = await server.command("key", "create", ...words);
    assert.equal(unowned.ownerId, null);
    const ofFirst = ["--name", "First", "--email", "first@example.com", "--password", "correct horse"];
    const created = await server.command("user", "create", ...ofFirst, "--tenant", tenant.id);
    const ownerId = created.user.id;
    const owned = ["--name", "Owned", "--scopes", scopes.join(), "--tenant", tenant.id, "--user", ownerId];
    const { key } = await server.command("key", "create", ...owned);
    assert.equal((await rotate(unowned.id, {}, { key })).body.ownerId, null);
  });

  test("a key of another tenant is 404", async () => {
    const theirs = await makeTenant(server.workspace, "keys:manage,keys:read");
    const { id } = await makeKey(server);
    expectAnswer(await rotate(id, {}, { key: theirs.key }), { status: 404 });
    assert.equal((await readKey(server, id)).rotatedToId, null);
  });
});
