// The feed learns of commits without waiting for a poll: in its own process directly, on PostgreSQL in others by
// notifications. When notifications cannot arrive, it polls.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { systemCaller } from "../../src/auth/system-caller.ts";
import { createTenant } from "../../src/auth/tenants/tenant.ts";
import { app } from "../../src/declare/app.ts";
import { text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { Engine } from "../../src/engine/engine.ts";
import { eventsTable } from "../../src/events/event.ts";
import { EventFeed, type FeedOptions } from "../../src/events/feed.ts";
import { purgedEventsTable } from "../../src/events/purged-events.ts";
import { StoredNames } from "../../src/events/stored-names.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { type DatabaseReader, openReader } from "../support/database-reader.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";

const model = buildModel(
  app({ name: "Signals", resources: [resource("note", { fields: { title: text() } })] }),
  [],
);
const notes = model.resource.get("note")!;
const patienceMs = 15_000;
/** So rare that a test would fail if it waited for a poll. */
const rarely: Partial<FeedOptions> = { pollMs: 600_000, notifiedPollMs: 600_000 };

onEachDatabase("signals of committed events", (database) => {
  let workspace: Workspace;
  let reader: DatabaseReader;
  let tenantId: string;
  let stores: Store[] = [];
  let stops: (() => void)[] = [];

  before(async () => {
    workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    reader = openReader(workspace.databaseUrl);
    await migrate(store, tablesOf(model, [tenantsTable, eventsTable, purgedEventsTable]));
    tenantId = (await createTenant(store, "Signalling")).id;
    await store.database.close();
  });
  beforeEach(async () => {
    stores = [await openStore(workspace.databaseUrl), await openStore(workspace.databaseUrl)];
  });
  afterEach(async () => {
    for (const stop of stops) stop();
    stops = [];
    for (const store of stores) await store.database.close();
  });
  after(async () => {
    await reader?.close();
    await workspace?.remove();
  });

  const create = async (store: Store): Promise<string> => {
    const written = await new Engine(model, store).create(systemCaller(model, tenantId), notes, {
      title: "N",
    });
    return written.id;
  };

  async function received(store: Store, options: Partial<FeedOptions>): Promise<string[]> {
    const feed = new EventFeed(store, (message) => assert.fail(message), new StoredNames([]), options);
    const rows: string[] = [];
    stops.push(await feed.listen(async (events) => void rows.push(...events.map(({ rowId }) => rowId))));
    return rows;
  }

  async function until(isReached: () => boolean | Promise<boolean>, what: string): Promise<void> {
    for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(5)) if (await isReached()) return;
    assert.fail(what);
  }

  test("a commit of the same process is delivered without a poll", async () => {
    const rows = await received(stores[0]!, rarely);
    // The first poll has passed.
    await sleep(100);
    const ids = [await create(stores[0]!), await create(stores[0]!)];
    await until(() => rows.length === 2, "nothing came");
    assert.deepEqual(rows, ids);
  });

  test("a commit of a process that cannot notify is found by a poll", async () => {
    const rows = await received(stores[0]!, {});
    await sleep(100);
    const tenant = `(select no from tenants limit 1)`;
    await reader.write(
      `insert into events (id, tenant_no, resource, kind, row_id, row, credential_id, created_at)
       values ('event_1', ${tenant}, 'note', 'note.created', 'by-hand', '{}', 'key', '2026-01-01T00:00:00.000Z')`,
    );
    await until(() => rows.includes("by-hand"), "nothing came");
  });

  if (database === "sqlite") return;

  /** The connections that listen: an idle connection shows its last statement. */
  const listening = `from pg_stat_activity where datname = current_database() and query like 'listen %'`;
  const isListening = async (): Promise<boolean> => {
    const [[count]] = (await reader.rows(`select count(*)::int ${listening}`)) as [[number]];
    return count > 0;
  };

  test("a commit of another process is delivered without a poll", async () => {
    const rows = await received(stores[0]!, rarely);
    // The other process has a feed, as every server.
    await received(stores[1]!, rarely);
    await until(isListening, "nobody listens");
    await sleep(100);
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(await create(stores[1]!));
    await until(() => rows.length === 5, "nothing came");
    assert.deepEqual(rows, ids);
  });

  test("a feed whose last listener ends during a poll no longer listens", async () => {
    const feed = new EventFeed(stores[0]!, (message) => assert.fail(message), new StoredNames([]), rarely);
    const stop = await feed.listen(async () => stop());
    await until(isListening, "nobody listens");
    await create(stores[0]!);
    await until(async () => !(await isListening()), "it still listens");
  });

  test("after the loss of the connection that listens, the feed polls, and listens again", async () => {
    const rows = await received(stores[0]!, {});
    await until(isListening, "nobody listens");
    await reader.rows(`select pg_terminate_backend(pid) ${listening}`);
    const id = await create(stores[1]!);
    await until(() => rows.includes(id), "nothing came");
    await until(isListening, "nobody listens again");
  });
});
