// Random conditions in the operations on rows, compared with a plain model in memory.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import type { Resource } from "../../src/declare/resource.ts";
import { Engine } from "../../src/engine/engine.ts";
import { eventsTable } from "../../src/events/event.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { randomRuns } from "../support/random-runs.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";
import { anyForest, anyPolicies, levels, PolicyModel, resolve } from "./policy-model.ts";
import { open, plantIn, planting, unrestricted } from "./policy-rows.ts";

onEachDatabase("random conditions of code agree with a plain model", (database) => {
  let workspace: Workspace;
  let store: Store;
  before(async () => {
    workspace = await makeWorkspace(database);
    store = await openStore(workspace.databaseUrl);
    await migrate(store, tablesOf(planting, [tenantsTable, eventsTable]));
  });
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  test("rows are listed, counted, found and updated that meet a condition", async () => {
    const engine = new Engine(planting, store);
    await fc.assert(
      fc.asyncProperty(anyForest, fc.array(anyPolicies, { maxLength: 8 }), async (forest, tried) => {
        const { caller, rows: planted } = await plantIn(store, forest);
        for (const policies of tried)
          for (const level of levels) {
            const where = resolve(policies, planted)[level].read;
            if (typeof where === "boolean") continue;
            const expected = new PolicyModel(
              true,
              { ...unrestricted, [level]: ["read"] },
              {
                ...open,
                [level]: { ...open[level], read: where },
              },
            );
            expected.rows.push(...planted);
            const ids = planted
              .filter((row) => row.level === level && expected.isVisible(row))
              .map(({ id }) => id);
            const target = { name: level } as Resource;
            // The compiler knows nothing of the fields of these resources.
            const condition = where as never;
            const work = engine.inTransaction(caller, async (rows) => {
              const listed = await rows.list(target, condition, { sort: "id" });
              assert.deepEqual(
                listed.map(({ id }) => id),
                ids.sort(),
              );
              assert.equal(await rows.count(target, condition), ids.length);
              assert.equal((await rows.first(target, condition, { sort: "id" }))?.id, ids[0]);
              assert.deepEqual(await rows.updateMany(target, condition, {}), { count: ids.length });
              throw new Error("rolled back");
            });
            await assert.rejects(
              work,
              hasUndefined(where) ? /undefined where a value belongs/ : /^Error: rolled back$/,
            );
          }
      }),
      { numRuns: randomRuns(12, 4), endOnFailure: true },
    );
  });
});

function hasUndefined(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === undefined;
  return Object.values(value).some(hasUndefined);
}
