// A process that opens a SQLite file again keeps the locks of the connections that it has on it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { openStore } from "../../src/store/open.ts";
import { makeWorkspace } from "../support/server.ts";
import { insertTenant } from "../support/tenants.ts";

/** What `portico migrate --layout` does first. It succeeds only while no other process has the file open. */
const lock = `const { DatabaseSync } = require("node:sqlite");
  new DatabaseSync(process.argv[1]).exec("pragma locking_mode = exclusive; pragma journal_mode = delete");`;

test("a file that one process has opened twice is locked exclusively by no other", async () => {
  const workspace = await makeWorkspace("sqlite");
  const lockBesides = (): { status: number | null; stderr: string } =>
    spawnSync(process.execPath, ["-e", lock, fileURLToPath(workspace.databaseUrl)], { encoding: "utf8" });
  const stores = [await openStore(workspace.databaseUrl)];
  try {
    await insertTenant(stores[0]!, "tenant_1");
    stores.push(await openStore(workspace.databaseUrl));
    const { status, stderr } = lockBesides();
    assert.equal(status, 1);
    assert.match(stderr, /database is locked/);
  } finally {
    for (const store of stores) await store.database.close();
    assert.equal(lockBesides().status, 0);
    await workspace.remove();
  }
});
