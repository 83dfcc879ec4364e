// The request log over HTTP: a list like any other, which callers cannot write.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openReader } from "../../support/database-reader.ts";
import { expectAnswer, makeTenant, runCommand, serve, type Tenant } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

interface Row {
  readonly id: string;
  readonly requestId: string;
  readonly createdAt: string;
}

onEachDatabase("the request log", (database) => {
  let other: Tenant;
  const server = serve(database, {
    prepare: async (at) => {
      other = await makeTenant(at.workspace, "keys:read,posts:read");
    },
  });
  const newKey = (scopes: string): Promise<{ id: string; key: string }> =>
    server.command("key", "create", "--name", "Logged", "--scopes", scopes);
  /** The rows of a key, as soon as there are this many. */
  const rowsOf = async (keyId: string, count: number): Promise<Row[]> => {
    for (const until = Date.now() + 5_000; ; await sleep(50)) {
      const { body } = await server.request(`/v1/request-logs?keyId=${keyId}&limit=100`);
      if (body.data.length >= count || Date.now() > until) return body.data;
    }
  };

  test("a request has a row without its path, query, body or key", async () => {
    const { id, key } = await newKey("posts:read");
    const headers = { "x-request-id": "logged-1" };
    const body = { title: "Confidential" };
    await server.request("/posts?q=confidential", { key, headers, body });
    const [row] = await rowsOf(id, 1);
    const { id: rowId, createdAt, updatedAt, durationMs, ...rest } = row as Row & Record<string, unknown>;
    assert.match(rowId, /^request_log_/);
    assert.equal(createdAt, updatedAt);
    assert.ok(Number(durationMs) > 0);
    assert.deepEqual(rest, {
      method: "POST",
      route: "/posts",
      status: 422,
      keyId: id,
      requestId: "logged-1",
    });
    expectAnswer(await server.request(`/v1/request-logs/${rowId}`), {
      status: 200,
      body: { requestId: "logged-1" },
    });
  });

  test("rows can be filtered by key, status and time, and have pages", async () => {
    const { id, key } = await newKey("posts:read");
    for (let n = 0; n < 5; n += 1) await server.request("/posts", { key });
    await server.request("/users", { key });
    const rows = await rowsOf(id, 6);
    assert.equal(rows.length, 6);
    const count = async (query: string): Promise<number> =>
      (await server.request(`/v1/request-logs?keyId=${id}&${query}`)).body.data.length;
    assert.equal(await count("status=200"), 5);
    assert.equal(await count("status=403"), 1);
    assert.equal(await count("status=200&status=403"), 6);
    assert.equal(await count("createdAt[lt]=2026-01-01"), 0);
    assert.equal(await count(`createdAt[gte]=${encodeURIComponent(rows.at(-1)!.createdAt)}`), 6);
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await server.request(`/v1/request-logs?keyId=${id}&limit=4${cursor}`);
      seen.push(...body.data.map((row: Row) => row.id));
      if (!body.pagination.hasMore) break;
      cursor = `&cursor=${body.pagination.nextCursor}`;
    }
    assert.deepEqual(
      seen,
      rows.map((row) => row.id),
    );
  });

  test("callers cannot write it", async () => {
    const { id, key } = await newKey("keys:manage,keys:read");
    await server.request("/v1/request-logs", { key });
    const [row] = await rowsOf(id, 1);
    const allowed = { status: 405, headers: { allow: "GET, HEAD, OPTIONS" } } as const;
    expectAnswer(await server.request("/v1/request-logs", { key, body: {} }), allowed);
    for (const method of ["PUT", "PATCH", "DELETE"])
      expectAnswer(await server.request(`/v1/request-logs/${row!.id}`, { key, method, body: {} }), allowed);
  });

  test("another tenant's rows are not visible, and a key without the scope sees none", async () => {
    const { id, key } = await newKey("posts:read");
    await server.request("/posts", { key });
    const [row] = await rowsOf(id, 1);
    const otherTenants = await server.request(`/v1/request-logs?keyId=${id}`, { key: other.key });
    assert.deepEqual(otherTenants.body.data, []);
    expectAnswer(await server.request(`/v1/request-logs/${row!.id}`, { key: other.key }), { status: 404 });
    const refused = await server.request("/v1/request-logs", { key });
    expectAnswer(refused, { status: 403, code: "insufficient_scope", message: /keys:read/ });
  });

  test("writing it creates no event", async () => {
    const reader = openReader(server.workspace.databaseUrl);
    try {
      assert.deepEqual(await reader.rows("select id from events where resource = 'requestLog'"), []);
    } finally {
      await reader.close();
    }
  });

  test("the command shows the newest requests, of one key if it is named", async () => {
    const { id, key } = await newKey("posts:read");
    await server.request("/posts", { key });
    await rowsOf(id, 1);
    const { requests } = await server.command("log", "list", "--key", id);
    assert.deepEqual(
      requests.map(({ route }: { route: string }) => route),
      ["/posts"],
    );
    assert.ok((await server.command("log", "list")).requests.length > 1);
    const otherTenants = await server.command("log", "list", "--key", id, "--tenant", other.id);
    assert.deepEqual(otherTenants.requests, []);
  });
});

onEachDatabase("expired rows", (database) => {
  test("expired rows are deleted soon after the start, and the others stay", async () => {
    const workspace = await makeWorkspace(database);
    const env = { PORTICO_REQUEST_LOG_DAYS: "7", PORTICO_USAGE_DAYS: "90" };
    try {
      const first = await Portico.start(workspace, { env });
      assert.equal((await first.request("/posts")).status, 200);
      await first.stop();
      const { keys } = await runCommand(workspace, ["key", "list"]);
      const reader = openReader(workspace.databaseUrl);
      const [[tenantNo]] = (await reader.rows("select no from tenants")) as [[number]];
      const ago = (days: number): number => Date.now() - days * 86_400_000;
      const logged = (days: number): string =>
        `(${tenantNo}, 'request_log_${randomUUID()}', 'GET', '/old', 200, 1, 'k', 'r', ${["created", "updated"].map(() => `'${new Date(ago(days)).toISOString()}'`).join()})`;
      const counted = (days: number, n: number): string =>
        `(${tenantNo}, '${keys[0].id}', ${Math.floor(ago(days) / 60_000)}, '/old/${n}', 2, 1)`;
      const many = Array.from({ length: 600 }, (_, n) => n);
      await reader.write(
        `insert into request_logs (tenant_no, id, method, route, status, duration_ms, key_id, request_id, created_at, updated_at) values ${[...many.map(() => logged(8)), logged(6)].join()}`,
      );
      await reader.write(
        `insert into key_usage (tenant_no, key_id, minute, route, status_class, count) values ${[...many.map((n) => counted(91, n)), counted(89, 0)].join()}`,
      );
      const remainingIds = async (): Promise<number[]> => {
        const [[logs]] = (await reader.rows("select count(*) from request_logs where route = '/old'")) as [
          [number],
        ];
        const [[counts]] = (await reader.rows(
          "select count(*) from key_usage where route like '/old/%'",
        )) as [[number]];
        return [Number(logs), Number(counts)];
      };
      assert.deepEqual(await remainingIds(), [601, 601]);
      const second = await Portico.start(workspace, { env, key: first.key });
      for (const until = Date.now() + 8_000; Date.now() < until; await sleep(100))
        if ((await remainingIds()).join() === "1,1") break;
      assert.deepEqual(await remainingIds(), [1, 1]);
      await second.stop();
      await reader.close();
    } finally {
      await workspace.remove();
    }
  });

  test("with zero days there is no log, and uses are still counted", async () => {
    const workspace = await makeWorkspace(database);
    try {
      const server = await Portico.start(workspace, { env: { PORTICO_REQUEST_LOG_DAYS: "0" } });
      await server.request("/posts");
      await server.stop();
      const { keys } = await runCommand(workspace, ["key", "list"]);
      assert.deepEqual((await runCommand(workspace, ["log", "list"])).requests, []);
      assert.equal((await runCommand(workspace, ["key", "usage", keys[0].id])).usage.length, 1);
    } finally {
      await workspace.remove();
    }
  });
});
