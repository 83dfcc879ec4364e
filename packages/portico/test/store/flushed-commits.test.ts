// Which commits SQLite flushes to disk: all but those of groups whose writes may be lost.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { TransactionOptions } from "../../src/store/database.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, type Workspace } from "../support/server.ts";

let workspace: Workspace;
let store: Store;
before(async () => {
  workspace = await makeWorkspace("sqlite");
  store = await openStore(workspace.databaseUrl);
});
after(async () => {
  await store?.database.close();
  await workspace?.remove();
});

/** The setting `synchronous` during a write: `full` is 2, `normal` is 1 (sqlite.org/pragma.html#pragma_synchronous). */
async function levelOf(options?: TransactionOptions): Promise<unknown> {
  const level = { sql: "pragma synchronous", bind: () => [] };
  const [row] = await store.transaction((session) => session.query(level, undefined), options);
  return row?.[0];
}

test("a commit is flushed, unless it may be lost", async () => {
  assert.equal(await levelOf(), 2);
  assert.equal(await levelOf({ mayBeLost: true }), 1);
  assert.equal(await levelOf(), 2);
});

test("writes that are committed together are flushed if any of them must not be lost", async () => {
  assert.deepEqual(await Promise.all([levelOf({ mayBeLost: true }), levelOf({ mayBeLost: true })]), [1, 1]);
  assert.deepEqual(await Promise.all([levelOf({ mayBeLost: true }), levelOf()]), [2, 2]);
});

test("statements outside a transaction are flushed after a commit that may be lost", async () => {
  await levelOf({ mayBeLost: true });
  await store.database.run("create table after_it (id)");
  assert.equal(await levelOf(), 2);
});
