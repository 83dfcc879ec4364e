// Revoking all keys of a user or a tenant at once, and keys whose owner is deleted.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openReader } from "../../support/database-reader.ts";
import { type CreatedKey, makeKey, opens, readKey } from "../../support/keys.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("revocation of many API keys", (database) => {
  const server = serve(database);
  let users = 0;
  const user = async (): Promise<string> => {
    users += 1;
    return (await server.create("/users", { name: "U", email: `u${users}@example.com` })).id;
  };
  const many = (count: number, body: object): Promise<CreatedKey[]> =>
    Promise.all(Array.from({ length: count }, () => makeKey(server, body)));
  const statusesOf = async (ownerId: string): Promise<Record<string, number>> => {
    const statuses: Record<string, number> = {};
    for (let cursor = ""; ; ) {
      const { data, pagination } = (
        await server.request(`/v1/api-keys?ownerId=${ownerId}&limit=100&fields=status${cursor}`)
      ).body;
      for (const { status } of data) statuses[status] = (statuses[status] ?? 0) + 1;
      if (!pagination.hasMore) return statuses;
      cursor = `&cursor=${pagination.nextCursor}`;
    }
  };

  test("all keys of a user are revoked, even more than one page, and no others", async () => {
    const [owner, other] = [await user(), await user()];
    const keys = await many(230, { ownerId: owner });
    const otherKey = await makeKey(server, { ownerId: other });
    expectAnswer(await server.request(`/v1/users/${owner}/api-keys`, { method: "DELETE" }), { status: 204 });
    assert.deepEqual(await statusesOf(owner), { revoked: 230 });
    for (const { key } of [keys[0]!, keys[115]!, keys[229]!]) assert.equal(await opens(server, key), false);
    assert.equal(await opens(server, otherKey.key), true);
    expectAnswer(await server.request(`/v1/users/${owner}/api-keys`, { method: "DELETE" }), { status: 204 });
  });

  test("an earlier revocation time does not change", async () => {
    const owner = await user();
    const [first, second] = await many(2, { ownerId: owner });
    await server.request(`/v1/api-keys/${first!.id}`, { method: "DELETE" });
    const before = await readKey(server, first!.id);
    await server.request(`/v1/users/${owner}/api-keys`, { method: "DELETE" });
    assert.deepEqual(await readKey(server, first!.id), before);
    assert.equal((await readKey(server, second!.id)).status, "revoked");
  });

  test("the collection of a user's keys can be read and deleted, but not created in", async () => {
    const owner = await user();
    const { id } = await makeKey(server, { ownerId: owner });
    const path = `/v1/users/${owner}/api-keys`;
    const { data, pagination } = (await server.request(path)).body;
    assert.deepEqual(
      data.map(({ id }: { id: string }) => id),
      [id],
    );
    assert.equal(pagination.hasMore, false);
    expectAnswer(await server.request(path, { body: { name: "x", scopes: [] } }), {
      status: 405,
      headers: { allow: "GET, HEAD, DELETE, OPTIONS" },
    });
    expectAnswer(await server.request(`${path}?status=active`, { method: "DELETE" }), {
      status: 422,
      details: [{ field: "status", issue: "unknown" }],
    });
    assert.equal((await readKey(server, id)).status, "active");
    expectAnswer(await server.request("/v1/users/user_00000000000000000000000000/api-keys"), { status: 404 });
    expectAnswer(await server.request("/v1/users/x/api-keys", { method: "DELETE" }), { status: 404 });
    expectAnswer(await server.request("/v1/tenants/x/api-keys", { method: "DELETE" }), { status: 404 });
  });

  test("a cursor of one collection is refused in another", async () => {
    const [owner, other] = [await user(), await user()];
    await many(3, { ownerId: owner });
    const { pagination } = (await server.request(`/v1/users/${owner}/api-keys?limit=1`)).body;
    const next = `limit=1&cursor=${pagination.nextCursor}`;
    expectAnswer(await server.request(`/v1/users/${owner}/api-keys?${next}`), { status: 200 });
    for (const path of [`/v1/users/${other}/api-keys`, "/v1/api-keys"])
      expectAnswer(await server.request(`${path}?${next}`), { status: 400, code: "invalid_cursor" });
  });

  test("all keys of a tenant are revoked, the caller's own too, and no other tenant's", async () => {
    const theirs = await makeTenant(server.workspace, "keys:read,keys:manage,posts:read");
    const more = await server.create(
      "/v1/api-keys",
      { name: "x", scopes: ["posts:read"] },
      { key: theirs.key },
    );
    const path = `/v1/tenants/${theirs.id}/api-keys`;
    expectAnswer(await server.request(path, { method: "DELETE" }), { status: 404 });
    assert.equal((await server.request(path, { key: theirs.key })).body.data.length, 2);
    expectAnswer(await server.request(path, { method: "DELETE", key: theirs.key }), { status: 204 });
    for (const key of [theirs.key, more.key]) assert.equal(await opens(server, key), false);
    assert.equal(await opens(server, server.portico.key), true);
    const { keys } = await server.command("key", "list", "--tenant", theirs.id);
    assert.deepEqual(
      keys.map(({ status }: { status: string }) => status),
      ["revoked", "revoked"],
    );
  });

  test("keys of a deleted user are refused, and their records stay without an owner", async () => {
    const owner = await user();
    const keys = await many(120, { ownerId: owner });
    const revoked = keys[0]!;
    await server.request(`/v1/api-keys/${revoked.id}`, { method: "DELETE" });
    const { revokedAt } = await readKey(server, revoked.id);
    expectAnswer(await server.request(`/users/${owner}`, { method: "DELETE" }), { status: 204 });
    for (const { key } of [keys[1]!, keys[119]!]) assert.equal(await opens(server, key), false);
    for (const { id } of [keys[1]!, keys[119]!]) {
      const { status, ownerId } = await readKey(server, id);
      assert.deepEqual({ status, ownerId }, { status: "revoked", ownerId: null });
    }
    assert.equal((await readKey(server, revoked.id)).revokedAt, revokedAt);
    assert.equal((await readKey(server, revoked.id)).ownerId, null);
  });

  test("the keys of a user who cannot be deleted remain valid", async () => {
    const owner = await user();
    const { key } = await makeKey(server, { ownerId: owner, scopes: ["posts:write", "posts:read"] });
    await server.create("/posts", { title: "Mine" }, { key });
    expectAnswer(await server.request(`/users/${owner}`, { method: "DELETE" }), { status: 409 });
    assert.equal(await opens(server, key), true);
  });

  test("concurrent deletion, creation and rotation never leave a usable key of a deleted user", async () => {
    for (let round = 0; round < 5; round += 1) {
      const owner = await user();
      const first = await makeKey(server, { ownerId: owner });
      const answers = await Promise.all([
        server.request("/v1/api-keys", { body: { name: "Late", scopes: ["posts:read"], ownerId: owner } }),
        server.request(`/v1/api-keys/${first.id}/rotations`, { method: "POST" }),
        server.request(`/users/${owner}`, { method: "DELETE" }),
        server.request("/v1/api-keys", { body: { name: "Later", scopes: ["posts:read"], ownerId: owner } }),
      ]);
      const [late, rotation, revoked, later] = answers.map(({ status }) => status);
      assert.ok(
        [late, later].every((status) => [201, 409, 422].includes(status!)),
        `${late} ${later}`,
      );
      assert.ok([201, 409].includes(rotation!) && revoked === 204, `${rotation} ${revoked}`);
      for (const { status, body } of answers)
        if (status === 201) assert.equal(await opens(server, body.key), false, "a key outlived its owner");
    }
  });

  test("each of many revocations records its own event", async () => {
    const owner = await user();
    const keys = await many(3, { ownerId: owner });
    await server.request(`/v1/users/${owner}/api-keys`, { method: "DELETE" });
    const reader = openReader(server.workspace.databaseUrl);
    try {
      const rows = await reader.rows("select row_id from events where kind = 'api_key.deleted'");
      const ids = rows.map(([id]) => id);
      for (const { id } of keys) assert.equal(ids.filter((each) => each === id).length, 1);
    } finally {
      await reader.close();
    }
  });
});
