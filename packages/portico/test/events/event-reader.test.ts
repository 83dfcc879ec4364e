// The reader finds the events of several resources of a tenant, in both directions and in the order of the feed.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createTenant } from "../../src/auth/tenants/tenant.ts";
import { EventReader, type ScannedEvent } from "../../src/events/event-reader.ts";
import { Position } from "../../src/events/position.ts";
import { StoredNames } from "../../src/events/stored-names.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, onEachDatabase, Portico, type Workspace } from "../support/server.ts";

const count = 600;
const resourceNames = ["apple", "pear", "plum"];

onEachDatabase("the reader of events", (database) => {
  let workspace: Workspace;
  let store: Store;
  let reader: EventReader;
  let tenantId: string;
  let otherId: string;

  before(async () => {
    workspace = await makeWorkspace(database);
    // Starting a server migrates the database.
    const server = await Portico.start(workspace);
    await server.stop();
    store = await openStore(workspace.databaseUrl);
    tenantId = (await createTenant(store, "Reading")).id;
    otherId = (await createTenant(store, "Other")).id;
    reader = new EventReader(store, new StoredNames([]));
    await record(count, tenantId);
    await record(50, otherId);
  });
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  /** Events of the resources in turn, in a few transactions. */
  const record = async (events: number, tenant: string, row = "{}"): Promise<void> => {
    const no = await store.tenants.findNumber(store.database, tenant);
    const values = Array.from({ length: events }, (_, index) => {
      const resource = resourceNames[index % resourceNames.length];
      return `('event_${tenant}_${index}', ${no}, '${resource}', '${resource}.created', '${index}', '${row}', 'key', '2026-01-01T00:00:00.000Z')`;
    });
    for (let start = 0; start < events; start += 100)
      await store.database.run(
        `insert into events (id, tenant_no, resource, kind, row_id, row, credential_id, created_at)
         values ${values.slice(start, start + 100).join()}`,
      );
  };

  /** The rows of all events that scans find one after another. */
  const scanAll = async (resources: readonly string[], isBackward: boolean): Promise<string[]> => {
    const rows: string[] = [];
    let range = { tenantId, resources, after: Position.start, until: await reader.completeUntil() };
    for (;;) {
      const found: readonly ScannedEvent[] = await reader.scan(range, isBackward);
      if (found.length === 0) return rows;
      rows.push(...found.map(({ rowId }) => rowId));
      const { position } = found.at(-1)!;
      // The end of a range is included.
      const before = new Position(position.transactionId, position.sequence - 1);
      range = isBackward ? { ...range, until: before } : { ...range, after: position };
    }
  };
  const expected = (resources: readonly string[]): string[] =>
    Array.from({ length: count }, (_, index) => index)
      .filter((index) => resources.includes(resourceNames[index % resourceNames.length]!))
      .map(String);

  for (const resources of [resourceNames, ["pear"], ["plum", "apple", "unknown"], []])
    test(`scans find every event of ${resources.join(", ") || "no resource"} once, in order`, async () => {
      assert.deepEqual(await scanAll(resources, false), expected(resources));
      assert.deepEqual(await scanAll(resources, true), expected(resources).reverse());
    });

  test("the events that a scan found are read in its order, and those of other tenants are not", async () => {
    const range = { resources: resourceNames, after: Position.start, until: await reader.completeUntil() };
    const found = await reader.scan({ ...range, tenantId }, true);
    const events = await reader.read(tenantId, found);
    assert.deepEqual(
      events.map(({ position, id, type }) => [position.toString(), id, type]),
      found.map(({ position, rowId, type }) => [position.toString(), `event_${tenantId}_${rowId}`, type]),
    );
    assert.deepEqual(await reader.read(otherId, found), []);
    assert.deepEqual(await reader.read(tenantId, []), []);
  });

  test("of large rows, as many are read as fit, and at least one", async () => {
    const { id } = await createTenant(store, "Large");
    await record(5, id, JSON.stringify({ text: "x".repeat(600_000) }));
    const until = await reader.completeUntil();
    const found = await reader.scan({ tenantId: id, resources: resourceNames, after: Position.start, until });
    assert.equal(found.length, 5);
    assert.deepEqual(
      (await reader.read(id, found)).map(({ rowId }) => rowId),
      ["0", "1"],
    );
    assert.deepEqual(
      (await reader.read(id, found.slice(2))).map(({ rowId }) => rowId),
      ["2", "3"],
    );
    assert.deepEqual(
      (await reader.read(id, found.slice(4))).map(({ rowId }) => rowId),
      ["4"],
    );
  });
});
