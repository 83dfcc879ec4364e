// Tenants are renamed and deleted, with everything that belongs to them.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { deleteTenant } from "../../../src/auth/tenants/delete-tenant.ts";
import { assemble } from "../../../src/runtime/compose.ts";
import { openStore } from "../../../src/store/open.ts";
import { openReader } from "../../support/database-reader.ts";
import { subscriptionStarted, withStream } from "../../support/graphql/subscriptions.ts";
import { makePublicClient, makeUser, obtainTokens } from "../../support/oauth.ts";
import { RawConnection } from "../../support/raw-connection.ts";
import { expectAnswer, makeTenant, serve, type Tenant } from "../../support/scenario.ts";
import { onEachDatabase, portico, projectFolder } from "../../support/server.ts";

onEachDatabase("a tenant with rows that refer to each other", (database) => {
  const cwd = resolve(import.meta.dirname, "../../fixtures/circle");
  const server = serve(database, { cwd });

  test("is deleted", async () => {
    const { id, key } = await makeTenant(server.workspace, "*", { cwd });
    const knight = await server.create("/knights", { name: "Galahad" }, { key });
    const squire = await server.create("/squires", { name: "Melias", knightId: knight.id }, { key });
    const body = { squireId: squire.id };
    const changed = await server.request(`/knights/${knight.id}`, { method: "PATCH", key, body });
    expectAnswer(changed, { status: 200, body });
    const words = ["tenant", "delete", id, "--confirm", "Another"];
    const { code, stderr } = await portico(server.workspace, words, { cwd });
    assert.equal(code, 0, stderr);
    expectAnswer(await server.request("/knights", { key }), { status: 401 });
  });
});

onEachDatabase("tenants", (database) => {
  const server = serve(database);
  const command = (...words: string[]) => portico(server.workspace, words);

  /** A tenant with more rows than are deleted at once. */
  const makeFull = async (posts: number): Promise<Tenant> => {
    const tenant = await makeTenant(server.workspace, "*");
    const { key } = tenant;
    const numbers = Array.from({ length: posts }, (_, number) => number);
    await Promise.all(numbers.map((number) => server.create("/posts", { title: String(number) }, { key })));
    const { id } = await server.create("/posts", { title: "Commented" }, { key });
    await server.create(`/posts/${id}/comments`, { body: "Yes" }, { key });
    return tenant;
  };
  /** The number of rows of a tenant, by table. */
  const rowsOf = async (id: string): Promise<Record<string, number>> => {
    const { tables } = await assemble({ folder: projectFolder, environment: {} });
    const reader = openReader(server.workspace.databaseUrl);
    try {
      const counts: Record<string, number> = {};
      for (const { name, columns } of tables)
        if (columns.some((column) => column.name === "tenant_no")) {
          const ofTenant = `tenant_no = (select no from tenants where id = '${id}')`;
          const [[count]] = (await reader.rows(`select count(*) from ${name} where ${ofTenant}`)) as [
            [unknown],
          ];
          if (Number(count) > 0) counts[name] = Number(count);
        }
      return counts;
    } finally {
      await reader.close();
    }
  };

  test("a tenant is renamed", async () => {
    const { tenant } = await server.command("tenant", "create", "--name", "Before");
    const renamed = await server.command("tenant", "rename", tenant.id, "--name", "After");
    assert.deepEqual(renamed.tenant, { id: tenant.id, name: "After" });
    const { tenants } = await server.command("tenant", "list");
    assert.ok(
      tenants.some(({ id, name }: { id: string; name: string }) => id === tenant.id && name === "After"),
    );
    assert.equal((await command("tenant", "rename", "tenant_1", "--name", "X")).code, 1);
  });

  test("a tenant is deleted with everything of it and nothing of others", async () => {
    const [doomed, kept] = [await makeFull(520), await makeFull(2)];
    const before = await rowsOf(kept.id);
    expectAnswer(await server.request("/posts", { key: doomed.key }), { status: 200 });
    for (const confirm of [[], ["--confirm", "Wrong"]]) {
      const { code, stderr } = await command("tenant", "delete", doomed.id, ...confirm);
      assert.deepEqual([code, /to confirm, add --confirm 'Another'/.test(stderr)], [1, true], stderr);
    }
    const named = ["--confirm", "Another"];
    const { deletedRows } = await server.command("tenant", "delete", doomed.id, ...named);
    assert.ok(deletedRows > 1_000, String(deletedRows));
    expectAnswer(await server.request("/posts", { key: doomed.key }), { status: 401 });
    const { tenants } = await server.command("tenant", "list");
    assert.ok(tenants.every(({ id }: { id: string }) => id !== doomed.id));
    expectAnswer(await server.request("/posts", { key: kept.key }), { status: 200 });
    const after = await rowsOf(kept.id);
    for (const table of ["posts", "comments", "users", "api_keys", "events", "passwords"])
      assert.equal(after[table], before[table], table);
    assert.equal((await command("tenant", "delete", doomed.id, ...named)).code, 1);
  });

  test("an interrupted deletion has closed the credentials, and is completed by another", async () => {
    const doomed = await makeFull(3);
    const user = await makeUser(server, "token@example.com", "--tenant", doomed.id);
    const client = await makePublicClient(server, "openid,posts:read", "--tenant", doomed.id);
    const { access_token } = await obtainTokens(server, client, user, "openid posts:read");
    expectAnswer(await server.request("/posts", { key: access_token }), { status: 200 });
    const { tables } = await assemble({ folder: projectFolder, environment: {} });
    const store = await openStore(server.workspace.databaseUrl);
    try {
      const interrupt = (): never => {
        throw new Error("interrupted");
      };
      await assert.rejects(deleteTenant(store, tables, doomed.id, interrupt), /interrupted/);
    } finally {
      await store.database.close();
    }
    assert.ok(Object.keys(await rowsOf(doomed.id)).length > 0);
    expectAnswer(await server.request("/posts", { key: doomed.key }), { status: 401 });
    await server.command("tenant", "delete", doomed.id, "--confirm", "Another");
    expectAnswer(await server.request("/posts", { key: access_token }), { status: 401 });
    const { tenants } = await server.command("tenant", "list");
    assert.ok(tenants.every(({ id }: { id: string }) => id !== doomed.id));
  });

  test("a key and a user that a late body asks for are not created for a deleted tenant", async () => {
    const doomed = await makeTenant(server.workspace, "*");
    const late = await Promise.all(
      Object.entries({
        "/v1/api-keys": { name: "Late", scopes: ["*"] },
        "/users": { name: "Late", email: "late@example.com", role: "owner" },
        "/v1/oauth-clients": { name: "Late", type: "confidential", scopes: ["posts:read"] },
      }).map(async ([path, value]) => {
        const connection = await RawConnection.open(server.url);
        const body = JSON.stringify(value);
        const head = { Host: "portico", Authorization: `Bearer ${doomed.key}`, Connection: "close" };
        const lines = Object.entries({
          ...head,
          "Content-Type": "application/json",
          "Content-Length": String(Buffer.byteLength(body)),
        }).map(([name, value]) => `${name}: ${value}\r\n`);
        connection.socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body.slice(0, 5)}`);
        return { connection, rest: body.slice(5) };
      }),
    );
    // The requests are authenticated before their bodies arrive.
    await sleep(200);
    await server.command("tenant", "delete", doomed.id, "--confirm", "Another");
    for (const { connection, rest } of late) {
      connection.socket.write(rest);
      await connection.until(/"code":"invalid_credential"/);
      assert.match(connection.received, /^HTTP\/1.1 401/);
      connection.close();
    }
    const reader = openReader(server.workspace.databaseUrl);
    try {
      for (const table of ["api_keys", "users", "oauth_clients"]) {
        const left = `select count(*) from ${table} where tenant_no not in (select no from tenants)`;
        assert.equal(Number((await reader.rows(left))[0]![0]), 0, table);
      }
    } finally {
      await reader.close();
    }
  });

  test("two deletions at once complete, and end the subscriptions of the tenant", async () => {
    const doomed = await makeFull(30);
    const query = "subscription { postCreated { id } }";
    await withStream(server.portico, query, { key: doomed.key }, async (stream) => {
      await subscriptionStarted();
      const words = ["tenant", "delete", doomed.id, "--confirm", "Another"];
      const results = await Promise.all([command(...words), command(...words)]);
      assert.ok(
        results.some(({ code }) => code === 0),
        results.map(({ stderr }) => stderr).join(),
      );
      for (const { code, stderr } of results) if (code !== 0) assert.match(stderr, /there is no tenant/);
      await stream.ended();
    });
    assert.equal((await command("tenant", "delete", doomed.id, "--confirm", "Another")).code, 1);
  });

  test("the first tenant is not deleted while tokens of another issuer give access to it by default", async () => {
    const { tenants } = await server.command("tenant", "list");
    const [first] = tenants;
    const env = {
      PORTICO_INTROSPECTION_URL: "http://127.0.0.1:9/introspect",
      PORTICO_INTROSPECTION_CLIENT_ID: "id",
      PORTICO_INTROSPECTION_CLIENT_SECRET: "secret",
    };
    const words = ["tenant", "delete", first.id, "--confirm", first.name];
    const { code, stderr } = await portico(server.workspace, words, { env });
    assert.deepEqual([code, /set PORTICO_INTROSPECTION_TENANT first/.test(stderr)], [1, true], stderr);
    expectAnswer(await server.request("/posts"), { status: 200 });
  });
});
