// Slow reads, for which SQLite starts threads: a server that stores no answers to requests with an Idempotency-Key does
// not need one to count them, and a thread that is started shares the compile cache.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { createTenant } from "../../src/auth/tenants/tenant.ts";
import { Problem } from "../../src/errors.ts";
import { StoredBytes } from "../../src/idempotency/stored-bytes.ts";
import { idempotencyKeysTable, insertAnswer } from "../../src/idempotency/table.ts";
import type { Database, Statement } from "../../src/store/database.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { makeWorkspace, onEachDatabase } from "../support/server.ts";

onEachDatabase("bytes of stored answers", (database) => {
  test("are counted by a slow read, if there are any answers", async () => {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    try {
      await migrate(store, [tenantsTable, idempotencyKeysTable]);
      const tenant = await createTenant(store, "Acme");
      const slowReads: string[] = [];
      const bytes = new StoredBytes(recording(store, slowReads));
      await bytes.count();
      assert.deepEqual(slowReads, []);
      bytes.requireRoom(tenant.id);

      const answer = { tenantId: tenant.id, credentialId: "key", key: "a", fingerprint: "", answer: "" };
      await store.transaction((session) =>
        insertAnswer(store).run(session, { ...answer, bytes: 256 * 1024 * 1024 }),
      );
      await bytes.count();
      assert.equal(slowReads.length, 1);
      assert.throws(
        () => bytes.requireRoom(tenant.id),
        (error) => error instanceof Problem && error.code === "rate_limited",
      );
    } finally {
      await store.database.close();
      await workspace.remove();
    }
  });
});

/** Prints the number of files in the compile cache before and after a thread has run. */
const program = `
  import { readdirSync } from "node:fs";
  import { enableCompileCache, flushCompileCache, getCompileCacheDir } from "node:module";
  enableCompileCache(process.env.CACHE);
  const { ReadWorker } = await import(process.env.READ_WORKER);
  const count = () => readdirSync(getCompileCacheDir()).length;
  flushCompileCache();
  const before = count();
  const worker = new ReadWorker(process.env.DATABASE);
  const rows = await worker.query({ sql: "select 1", values: [], maxBytes: 1_000 });
  await worker.close();
  console.log(JSON.stringify({ rows, before, after: count() }));
`;

test("a reading thread uses the compile cache of the process", async () => {
  const workspace = await makeWorkspace("sqlite");
  try {
    // In a process of its own, because the cache of this one may have the modules of the thread already.
    const { stdout } = await promisify(execFile)(process.execPath, ["--eval", program], {
      env: {
        ...process.env,
        NODE_COMPILE_CACHE: undefined,
        CACHE: join(workspace.folder, "cache"),
        READ_WORKER: import.meta.resolve("../../src/store/sqlite/read-worker.ts"),
        DATABASE: join(workspace.folder, "portico.db"),
      },
    });
    const { rows, before, after } = JSON.parse(stdout);
    assert.deepEqual(rows, [[1]]);
    // The thread writes its modules when it ends.
    assert.ok(after > before, stdout);
  } finally {
    await workspace.remove();
  }
});

/** The store, which records the slow reads that are run outside of a transaction. */
function recording(store: Store, slowReads: string[]): Store {
  const query = <Input>(statement: Statement<Input>, input: Input): ReturnType<Database["query"]> => {
    if (statement.mayScan) slowReads.push(statement.sql);
    return store.database.query(statement, input);
  };
  const database = new Proxy(store.database, {
    get: (target, name) => (name === "query" ? query : Reflect.get(target, name)),
  });
  return new Proxy(store, {
    get: (target, name) => (name === "database" ? database : Reflect.get(target, name)),
  });
}
