// The events of rows that are deleted together are visible to those who saw the rows before, by random policies, compared
// with a plain model in memory.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { Engine } from "../../src/engine/engine.ts";
import { eventsTable } from "../../src/events/event.ts";
import { EventReader } from "../../src/events/event-reader.ts";
import { completePosition } from "../../src/events/horizon.ts";
import { purgedEventsTable } from "../../src/events/purged-events.ts";
import { StoredNames } from "../../src/events/stored-names.ts";
import { TimeSlice } from "../../src/lib/time-slice.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { parseEvents } from "../../src/subscriptions/parsed-event.ts";
import { randomRuns } from "../support/random-runs.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";
import { anyDeclarations, anyForest, anyPolicies, levels, PolicyModel, resolve } from "./policy-model.ts";
import { modelOf, open, plantIn, planting } from "./policy-rows.ts";

/** Leaves without peers: all rows that are related to a deleted row are deleted with it. */
const anyTrees = anyForest.map((forest) => ({
  ...forest,
  leaf: forest.leaf.map(([under, values]) => [under, values, null] as [number, typeof values, null]),
}));

onEachDatabase("events of rows that are deleted together", (database) => {
  let workspace: Workspace;
  let store: Store;
  let reader: EventReader;
  before(async () => {
    workspace = await makeWorkspace(database);
    store = await openStore(workspace.databaseUrl);
    await migrate(store, tablesOf(planting, [tenantsTable, eventsTable, purgedEventsTable]));
    reader = new EventReader(store, new StoredNames(planting.resources));
  });
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  const deletionsSince = async (tenantId: string, since: Awaited<ReturnType<typeof completePosition>>) => {
    // On PostgreSQL, events are complete once no earlier transaction runs, also of other tests.
    const range = { tenantId, resources: [...levels], after: since };
    const until = await reader.completeUntil();
    const scanned = await reader.scan({ ...range, until });
    const events = await reader.read(
      tenantId,
      scanned.filter(({ type }) => type.endsWith(".deleted")),
    );
    return parseEvents(events, { skip: (_event, error) => assert.fail(String(error)) }, new TimeSlice());
  };

  for (const inherits of [true, false])
    test(`are visible to those who saw the rows, ${inherits ? "inherited" : "not inherited"}`, async () => {
      await fc.assert(
        fc.asyncProperty(
          anyTrees,
          anyDeclarations,
          fc.array(anyPolicies, { minLength: 5, maxLength: 5 }),
          async (forest, declarations, tried) => {
            const { caller, rows } = await plantIn(store, forest);
            const expected = new PolicyModel(inherits, declarations, open);
            expected.rows.push(...rows);
            const visible = tried.map((policies) => {
              expected.policies = resolve(policies, rows);
              return rows.filter((row) => expected.isVisible(row)).map(({ id }) => id);
            });
            const since = await completePosition(store);
            const root = rows.find(({ level }) => level === "top")!;
            const plain = new Engine(planting, store);
            await plain.delete(caller, planting.resource.get("top")!, root.id);
            const isDeleted = (row: (typeof rows)[number]): boolean =>
              row === root || (row.parent !== undefined && isDeleted(row.parent));
            const deleted = rows.filter(isDeleted);
            let events = await deletionsSince(caller.tenantId, since);
            for (let tries = 0; events.length < deleted.length && tries < 1_000; tries += 1) {
              await setTimeout(10);
              events = await deletionsSince(caller.tenantId, since);
            }
            assert.equal(events.length, deleted.length);
            const engine = new Engine(
              modelOf(inherits, declarations, () => expected.policies),
              store,
            );
            for (const [index, policies] of tried.entries()) {
              expected.policies = resolve(policies, rows);
              for (const level of levels) {
                const ofLevel = events.filter(({ event }) => event.resource === level);
                const resource = engine.model.resource.get(level)!;
                const seen = await engine.areVisible(caller, resource, ofLevel);
                assert.deepEqual(
                  ofLevel.filter((_, each) => seen[each]).map(({ rowId }) => rowId),
                  ofLevel.map(({ rowId }) => rowId).filter((id) => visible[index]!.includes(id)),
                );
              }
            }
          },
        ),
        { numRuns: randomRuns(24, 12), endOnFailure: true },
      );
    });
});
