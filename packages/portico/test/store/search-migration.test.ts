// If a declaration adds, changes or removes searched fields, existing rows are indexed again.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { app } from "../../src/declare/app.ts";
import { text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { newId } from "../../src/lib/id.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Model } from "../../src/model/model.ts";
import { wholeRow } from "../../src/query/selection.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, onEachDatabase } from "../support/server.ts";
import { insertTenant } from "../support/tenants.ts";

const tenantId = newId("tenant");

onEachDatabase("search as a declaration changes", (database) => {
  test("rows are found by the currently searched fields, and writes continue meanwhile", async () => {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    try {
      await insertTenant(store, tenantId);
      const plain = modelOf([]);
      await migrate(store, tablesOf(plain, []));
      await insert(store, plain, "Engine", "weaves");

      const byTitle = modelOf(["title"]);
      await migrate(store, tablesOf(byTitle, []));
      assert.deepEqual(await search(store, byTitle, "engine"), ["Engine"]);
      assert.deepEqual(await search(store, byTitle, "weaves"), []);
      await insert(store, byTitle, "Loom", "weaves too");

      const byBoth = modelOf(["title", "body"]);
      await migrate(store, tablesOf(byBoth, []));
      assert.deepEqual(await search(store, byBoth, "weaves"), ["Engine", "Loom"]);
      await insert(store, byBoth, "Shuttle", "weaves as well");
      assert.deepEqual(await search(store, byBoth, "wea"), ["Engine", "Loom", "Shuttle"]);
      assert.deepEqual((await migrate(store, tablesOf(byBoth, []))).statements, []);

      await migrate(store, tablesOf(plain, []));
      await insert(store, plain, "Bobbin", "");
      assert.deepEqual((await migrate(store, tablesOf(plain, []))).statements, []);
    } finally {
      await store.database.close();
      await workspace.remove();
    }
  });

  test("an earlier version searches and writes while the words are recomputed", async () => {
    const workspace = await makeWorkspace(database);
    const [store, earlier] = [await openStore(workspace.databaseUrl), await openStore(workspace.databaseUrl)];
    try {
      const [byTitle, byBoth] = [modelOf(["title"]), modelOf(["title", "body"])];
      await insertTenant(store, tenantId);
      await migrate(store, tablesOf(byTitle, []));
      for (let count = 0; count < 3_000; count += 500)
        await Promise.all(Array.from({ length: 500 }, () => insert(store, byTitle, "Loom", "weaves")));
      await insert(store, byTitle, "Engine", "calculates");
      let isDone = false;
      const migration = migrate(store, tablesOf(byBoth, [])).finally(() => {
        isDone = true;
      });
      let writes = 0;
      for (; !isDone; await sleep(1)) {
        assert.deepEqual(await search(earlier, byTitle, "engine"), ["Engine"]);
        await insert(earlier, byTitle, "Bobbin", "");
        if (!isDone) writes += 1;
      }
      await migration;
      assert.ok(writes > 1, `${writes} writes`);
      assert.deepEqual(await search(store, byBoth, "calculates"), ["Engine"]);
      assert.ok((await search(store, byBoth, "bobbin")).length >= Math.min(writes, 10));
    } finally {
      await earlier.database.close();
      await store.database.close();
      await workspace.remove();
    }
  });
});

function modelOf(search: ("title" | "body")[]): Model {
  const notes = resource("note", { fields: { title: text({ max: 200 }), body: text({ max: 200 }) }, search });
  return buildModel(app({ name: "Notes", resources: [notes] }), []);
}

async function insert(store: Store, model: Model, title: string, body: string): Promise<void> {
  const now = new Date().toISOString();
  const values = { id: newId("note"), title, body, createdAt: now, updatedAt: now };
  await store.transaction((session) =>
    store.writes.insert(session, { resource: model.resource.get("note")!, tenantId, values }),
  );
}

async function search(store: Store, model: Model, word: string): Promise<string[]> {
  const note = model.resource.get("note")!;
  const page = await store.list(tenantId, {
    resource: note,
    selection: wholeRow(note),
    conditions: [],
    words: [word],
    sort: [{ attribute: note.attribute.get("createdAt")!, isDescending: false }],
    page: { style: "cursor", limit: 10, position: undefined, isBackward: false },
  });
  return JSON.parse(page.rows).map((row: { title: string }) => row.title);
}
