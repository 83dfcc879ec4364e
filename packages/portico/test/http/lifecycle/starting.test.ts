// Starting: any error stops the start with one line; a sandbox is migrated and seeded, a live server is not.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { runCommand } from "../../support/scenario.ts";
import {
  type DatabaseName,
  makeWorkspace,
  onEachDatabase,
  Portico,
  PorticoProcess,
  portico,
  type Workspace,
} from "../../support/server.ts";
import { expectRefusal, expectRefusalOfProcess } from "./refused-start.ts";

const secret = "s".repeat(32);

function useWorkspace(database: DatabaseName): () => Workspace {
  let workspace: Workspace;
  before(async () => {
    workspace = await makeWorkspace(database);
  });
  after(() => workspace?.remove());
  return () => workspace;
}

onEachDatabase("starting", (database) => {
  const workspace = useWorkspace(database);

  test("the error names a port in use", async () => {
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    try {
      const { port } = blocker.address() as { port: number };
      for (const expectFailure of [expectRefusal, expectRefusalOfProcess])
        await expectFailure(workspace(), { PORT: String(port) }, new RegExp(`port ${port} .*taken.*PORT`));
    } finally {
      blocker.close();
    }
  });

  test("a start that failed has not used up the first key: the next start shows it", async () => {
    const server = await Portico.start(workspace());
    assert.match(server.key, /^sk_test_/);
    await server.stop();
  });

  test("of two first starts on one database, one creates the tenant and the key", async () => {
    const fresh = await makeWorkspace(database);
    try {
      const servers = await Promise.all([PorticoProcess.start(fresh), PorticoProcess.start(fresh)]);
      // The second one may have looked for the tenant before it existed.
      await Promise.all(servers.map((server) => server.stop()));
      const keys = servers.map(({ output }) => /sk_test_[\w-]{43}\n/.exec(output)).filter(Boolean);
      assert.equal(keys.length, 1);
      const { keys: listed } = await runCommand(fresh, ["key", "list"]);
      assert.equal(listed.length, 1);
    } finally {
      await fresh.remove();
    }
  });

  test("live mode without a secret is refused", async () => {
    await expectRefusal(workspace(), { PORTICO_MODE: "live" }, /PORTICO_SECRET is missing/);
  });

  test("live mode does not migrate automatically, and says what to run", async () => {
    const fresh = await makeWorkspace(database);
    try {
      const live = { PORTICO_MODE: "live", PORTICO_SECRET: secret };
      await expectRefusal(fresh, live, /portico migrate --dry-run.*portico migrate/);
      const refused = await portico(fresh, ["key", "list"], { env: live });
      assert.equal(refused.code, 1);
      assert.match(
        refused.stderr,
        /^portico: the database does not match the declarations \([^\n]*tenants[^\n]*\); run portico migrate\n$/,
      );
      await runCommand(fresh, ["migrate"], { env: live });
      const server = await PorticoProcess.start(fresh, { env: live });
      try {
        // Live mode creates no tenant and no key.
        const { code, stderr } = await portico(fresh, ["key", "list"], { env: live });
        assert.deepEqual([code, stderr.includes("there is no tenant yet")], [1, true]);
        assert.doesNotMatch(server.output, /sk_/);
        const { tenant } = await runCommand(fresh, ["tenant", "create", "--name", "First"], { env: live });
        const words = ["key", "create", "--name", "K", "--scopes", "posts:read", "--tenant", tenant.id];
        const { key } = await runCommand(fresh, words, { env: live });
        assert.match(key, /^sk_live_/);
        assert.equal((await server.request("/posts", { key })).status, 200);
        const sandboxKey = `sk_test_${key.slice(8)}`;
        const refused = await server.request("/posts", { key: sandboxKey });
        assert.equal(refused.status, 401);
        assert.equal(refused.body.error.code, "wrong_environment");
        assert.match(refused.body.error.message, /live/);
      } finally {
        await server.stop();
      }
    } finally {
      await fresh.remove();
    }
  });

  test("a second start keeps the rows and shows no key", async () => {
    const fresh = await makeWorkspace(database);
    try {
      const first = await PorticoProcess.start(fresh);
      const { body } = await first.request("/posts", { body: { title: "Kept" } });
      assert.equal(await first.stop(), 0);
      const second = await PorticoProcess.start(fresh, { key: first.key });
      assert.equal((await second.request(`/posts/${body.id}`)).status, 200);
      assert.doesNotMatch(second.output, /sk_test_/);
      assert.equal(await second.stop(), 0);
    } finally {
      await fresh.remove();
    }
  });

  test("two processes that start concurrently on an empty database both serve it", async () => {
    const fresh = await makeWorkspace(database);
    try {
      const servers = await Promise.all([PorticoProcess.start(fresh), PorticoProcess.start(fresh)]);
      const key = servers.map((each) => each.key).find((each) => each !== "")!;
      for (const each of servers) assert.equal((await each.request("/posts", { key })).status, 200);
      for (const each of servers) assert.equal(await each.stop(), 0);
      const { keys } = await runCommand(fresh, ["key", "list"]);
      assert.equal(keys.length, 1);
    } finally {
      await fresh.remove();
    }
  });

  test("links and Location contain the path of PUBLIC_URL", async () => {
    const fresh = await makeWorkspace(database);
    const server = await Portico.start(fresh, { env: { PUBLIC_URL: "https://example.com/api/" } });
    try {
      const created = await server.request("/posts", { body: { title: "Below" } });
      assert.equal(created.headers.get("location"), `/api/posts/${created.body.id}`);
      const listed = await server.request("/posts?limit=1");
      assert.match(listed.headers.get("link") ?? "", /^<\/api\/posts\?limit=1&cursor=/);
    } finally {
      await server.stop();
      await fresh.remove();
    }
  });
});
