// `portico migrate` says how large the indexes are that it creates, and before that how large they will be.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app, belongsTo, resource, text, timestamp } from "../../src/index.ts";
import { newId } from "../../src/lib/id.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { RowValues } from "../../src/query/write.ts";
import { openStore } from "../../src/store/open.ts";
import { withSizes } from "../../src/store/schema/index-sizes.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Table } from "../../src/store/schema/table.ts";
import { makeWorkspace, onEachDatabase } from "../support/server.ts";
import { insertTenant } from "../support/tenants.ts";

const rows = 5_000;

function modelOf(filter: readonly string[]) {
  const shops = resource("shop", { fields: { name: text({ max: 50 }) } });
  const notes = resource("note", {
    fields: {
      title: text({ max: 100 }),
      mood: text({ max: 50, optional: true }),
      shop: belongsTo(() => shops, { optional: true }),
      dueAt: timestamp({ optional: true }),
    },
    // The names are those of the fields above.
    filter: filter as ["title"],
  });
  return buildModel(app({ name: "Notes", resources: [shops, notes] }), []);
}

onEachDatabase("the sizes of indexes", (database) => {
  test("an estimate is between half and twice the size that the index then has", async () => {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    try {
      const before = modelOf([]);
      await migrate(store, tablesOf(before, []));
      const resource = before.resource.get("note")!;
      const tenantId = newId("tenant");
      await insertTenant(store, tenantId);
      const createdAt = "2026-01-01T00:00:00.000Z";
      const valuesOf = (row: number): RowValues => ({
        ...{ id: newId("note"), title: `A title of some length ${row}`, mood: null, shopId: null },
        ...{ dueAt: createdAt, createdAt, updatedAt: createdAt },
      });
      const rowsTogether = 500;
      for (let first = 0; first < rows; first += rowsTogether)
        await store.transaction((session) =>
          Promise.all(
            Array.from({ length: rowsTogether }, (_, index) =>
              store.writes.insert(session, { resource, tenantId, values: valuesOf(first + index) }),
            ),
          ),
        );
      const tables: readonly Table[] = tablesOf(modelOf(["title", "mood", "dueAt"]), []);
      const planned = await migrate(store, tables, { isDryRun: true });
      const estimated = await withSizes(store, tables, planned.indexes, true);
      assert.equal(estimated.length, 3);
      const applied = await migrate(store, tables);
      const created = await withSizes(store, tables, applied.indexes, false);
      for (const [position, { name, size, isEstimate }] of created.entries()) {
        const estimate = estimated[position]!;
        assert.deepEqual([estimate.name, estimate.isEstimate, isEstimate], [name, true, false]);
        assert.ok(size! > rows, `${name}: ${size} bytes`);
        const ratio = estimate.size! / size!;
        assert.ok(ratio > 0.5 && ratio < 2, `${name}: estimated ${estimate.size}, is ${size}`);
      }
    } finally {
      await store.database.close();
      await workspace.remove();
    }
  });
});
