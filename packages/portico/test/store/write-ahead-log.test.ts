// SQLite's write-ahead log is started again during reads and writes. Otherwise it would grow without bound and slow both down.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, before, test } from "node:test";
import service from "../../../../portico.config.ts";
import { systemCaller } from "../../src/auth/system-caller.ts";
import { createTenant } from "../../src/auth/tenants/tenant.ts";
import { users } from "../../src/auth/users/resource.ts";
import { Engine } from "../../src/engine/engine.ts";
import { eventsTable } from "../../src/events/event.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { ListRequest } from "../../src/query/read.ts";
import { wholeRow } from "../../src/query/selection.ts";
import { databaseFile, openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { makeWorkspace, type Workspace } from "../support/server.ts";

const inserts = 20_000;
const insertsAtOnce = 50;
/** The log starts again at 64 MB, but a group of writes can exceed that, and a read can delay it. */
const maxBytes = 80 * 1024 * 1024;

const model = buildModel(service, [users]);
const projects = model.resource.get("project")!;

let workspace: Workspace;
let store: Store;
before(async () => {
  workspace = await makeWorkspace("sqlite");
  store = await openStore(workspace.databaseUrl);
  await migrate(store, tablesOf(model, [tenantsTable, eventsTable]));
});
after(async () => {
  await store?.database.close();
  await workspace?.remove();
});

test(`the log stays small over ${inserts} creates with concurrent reads`, async () => {
  const tenant = await createTenant(store, "Writer");
  const caller = systemCaller(model, tenant.id);
  const engine = new Engine(model, store);
  const newest: ListRequest = {
    resource: projects,
    selection: wholeRow(projects),
    conditions: [],
    words: [],
    sort: [{ attribute: projects.sorts.get("createdAt")!, isDescending: true }],
    page: { style: "cursor", limit: 20, cursor: undefined, isBackward: false },
  };
  const logFile = `${databaseFile(workspace.databaseUrl)}-wal`;
  let largest = 0;
  for (let count = 0; count < inserts; count += insertsAtOnce) {
    const name = `${"a".repeat(180)} `;
    const creates = Array.from({ length: insertsAtOnce }, (_, number) =>
      engine.create(caller, projects, { name: `${name}${count + number}`, slug: `slug-${count + number}` }),
    );
    const reads = Array.from({ length: 5 }, () => engine.list(caller, newest));
    await Promise.all([...creates, ...reads]);
    largest = Math.max(largest, statSync(logFile).size);
  }
  assert.ok(largest < maxBytes, `the log grew to ${largest} bytes`);
  // How often it has started again is in its header (sqlite.org/fileformat2.html#walformat).
  const restarts = readFileSync(logFile).readUInt32BE(12);
  assert.ok(restarts >= 1, `the log has started again ${restarts} times`);
  const [row] = await store.database.query(
    { sql: "select count(*) from projects", bind: () => [] },
    undefined,
  );
  assert.equal(row![0], inserts);
});
