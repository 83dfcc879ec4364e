// The status of an API key derives from its timestamps at the time of each request, in responses and in filters.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type CreatedKey, inDays, makeKey, opens, readKey, setTime } from "../../support/keys.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase, PorticoProcess } from "../../support/server.ts";

onEachDatabase("the status of an API key", (database) => {
  const server = serve(database);
  const listed = async (status: string, ownerId: string): Promise<string[]> => {
    const { body } = await server.request(`/v1/api-keys?status=${status}&ownerId=${ownerId}`);
    return body.data.map(({ id }: { id: string }) => id);
  };
  const revoke = ({ id }: CreatedKey) => server.request(`/v1/api-keys/${id}`, { method: "DELETE" });

  test("a key is expiring_soon from seven days before its expiry", async () => {
    const created = [
      await makeKey(server, { expiresAt: inDays(7.001) }),
      await makeKey(server, { expiresAt: inDays(6.999) }),
    ];
    assert.deepEqual(
      created.map(({ status }) => status),
      ["active", "expiring_soon"],
    );
    assert.equal(await opens(server, created[1]!.key), true);
    await setTime(server.workspace, created[0]!.id, "expires_at", inDays(6.999));
    assert.equal((await readKey(server, created[0]!.id)).status, "expiring_soon");
  });

  test("a setting changes the number of days", async () => {
    const env = { PORTICO_KEY_EXPIRING_SOON_DAYS: "30" };
    const other = await PorticoProcess.start(server.workspace, { env, key: server.portico.key });
    try {
      const { id } = await makeKey(server, { expiresAt: inDays(29) });
      assert.equal((await readKey(server, id)).status, "active");
      assert.equal((await other.request(`/v1/api-keys/${id}`)).body.status, "expiring_soon");
    } finally {
      await other.stop();
    }
  });

  test("a key expires in its record, in lists and in authentication at the same time", async () => {
    const user = await server.create("/users", { name: "U", email: "expiry@example.com" });
    const created = await makeKey(server, {
      ownerId: user.id,
      scopes: ["posts:read", "keys:read", "keys:manage"],
      expiresAt: new Date(Date.now() + 1_500).toISOString(),
    });
    assert.equal(created.status, "expiring_soon");
    assert.equal(await opens(server, created.key), true);
    assert.deepEqual(await listed("expiring_soon", user.id), [created.id]);
    await sleep(Date.parse(created.expiresAt!) - Date.now() + 5);
    assert.equal(await opens(server, created.key), false);
    assert.equal((await readKey(server, created.id)).status, "expired");
    assert.deepEqual(await listed("expired", user.id), [created.id]);
    assert.deepEqual(await listed("expiring_soon", user.id), []);
    for (const [method, body] of [
      ["PATCH", { name: "x" }],
      ["PUT", { name: "x", scopes: [] }],
    ] as const)
      expectAnswer(await server.request(`/v1/api-keys/${created.id}`, { method, body }), {
        status: 409,
        code: "conflict",
        message: /expired/,
      });
  });

  test("revoked takes precedence over expired, and expired over expiring_soon", async () => {
    const key = await makeKey(server);
    await setTime(server.workspace, key.id, "expires_at", inDays(-1));
    assert.equal((await readKey(server, key.id)).status, "expired");
    expectAnswer(await revoke(key), { status: 204 });
    assert.equal((await readKey(server, key.id)).status, "revoked");
    assert.equal(await opens(server, key.key), false);
  });

  test("the ETag of a record changes with its status, as its text does", async () => {
    const { id } = await makeKey(server, { expiresAt: new Date(Date.now() + 1_000).toISOString() });
    const tag = (await server.request(`/v1/api-keys/${id}`)).headers.get("etag")!;
    const headers = { "if-none-match": tag };
    expectAnswer(await server.request(`/v1/api-keys/${id}`, { headers }), { status: 304 });
    await sleep(1_005);
    expectAnswer(await server.request(`/v1/api-keys/${id}`, { headers }), { status: 200 });
  });
});
