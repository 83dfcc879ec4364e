// The statements of resources whose rows are deleted softly: those of other rows do not change, and pages of deleted rows
// read along an index.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { App } from "../../../src/declare/app.ts";
import { users } from "../../../src/index.ts";
import { buildModel } from "../../../src/model/build-model.ts";
import type { Model } from "../../../src/model/model.ts";
import { compileList } from "../../../src/store/compile/list.ts";
import { openStore } from "../../../src/store/open.ts";
import { postgresDialect } from "../../../src/store/postgres/dialect.ts";
import { migrate } from "../../../src/store/schema/migrate.ts";
import { tablesOf } from "../../../src/store/schema/model-tables.ts";
import { sqliteDialect } from "../../../src/store/sqlite/dialect.ts";
import type { Store } from "../../../src/store/store.ts";
import { tenantsTable } from "../../../src/store/tenants.ts";
import { everyRead } from "../../store/every-read.ts";
import { makeWorkspace, type Workspace } from "../../support/server.ts";
import forum from "./forum.ts";

const plain: App = {
  ...forum,
  resources: forum.resources.map((each) => ({
    ...each,
    declaration: { ...each.declaration, softDelete: false },
  })),
};
const model = buildModel(forum, [users]);
const deleted: Model = {
  ...model,
  resources: model.resources.flatMap(({ deletedRows }) => deletedRows ?? []),
};

describe("statements with soft deletion", () => {
  let workspace: Workspace;
  let store: Store;
  before(async () => {
    workspace = await makeWorkspace("sqlite");
    store = await openStore(workspace.databaseUrl);
    await migrate(store, tablesOf(model, [tenantsTable]));
  });
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  test("pages of rows that are not deleted are read by the same statements as without it", () => {
    const others = everyRead(buildModel(plain, [users]));
    for (const dialect of [sqliteDialect, postgresDialect])
      for (const [index, { name, read }] of everyRead(model).entries())
        assert.equal(compileList(dialect, read).sql, compileList(dialect, others[index]!.read).sql, name);
  });

  test("every page of deleted rows uses an index that begins with the tenant, and sorts nothing", async () => {
    // The filters of related rows have no index of their own.
    const reads = everyRead(deleted).filter(({ read, filters }) =>
      filters.every((each) => read.resource.attribute.get(each.name) === each),
    );
    assert.ok(reads.length > 50);
    for (const { name, read, isMerged } of reads) {
      const { parent } = read.resource;
      const exists = parent ? [{ attribute: parent, operator: "is", conditions: [] } as const] : [];
      const checked = { ...read, conditions: [...read.conditions, ...exists] };
      const statement = compileList(store.dialect, checked);
      const explained = { sql: `explain query plan ${statement.sql}`, bind: statement.bind };
      const input = { tenantId: "tenant", tenantNo: 1, read: checked };
      const plan = (await store.database.query(explained, input)).map((row) => String(row[3]));
      const searches = plan.filter((line) => line.startsWith("SEARCH r USING"));
      const description = `${name}\n${plan.join("\n")}`;
      assert.equal(searches.length, isMerged ? 2 : 1, description);
      for (const line of searches) assert.match(line, /\(tenant_no=\?/, description);
      assert.ok(!plan.some((line) => /^SCAN .* USING/.test(line)), description);
      if (!isMerged) assert.ok(!plan.includes("USE TEMP B-TREE FOR ORDER BY"), description);
    }
  });
});
