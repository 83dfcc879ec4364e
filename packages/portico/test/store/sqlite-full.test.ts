// A SQLite database on a full disk refuses writes, which leave nothing behind, and keeps acknowledged rows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { LoggedProblem, Problem } from "../../src/errors.ts";
import { newId } from "../../src/lib/id.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import { makeWorkspace } from "../support/server.ts";
import { insertTenant } from "../support/tenants.ts";

const body = "word ".repeat(2_000);
const notes = resource("note", { fields: { body: text() } });
const model = buildModel(app({ name: "Notes", resources: [notes] }), []);

test("a full disk refuses writes, is logged once, and accepts writes again when there is space", async () => {
  const workspace = await makeWorkspace("sqlite");
  const store = await openStore(workspace.databaseUrl);
  const reports: string[] = [];
  try {
    const tenantId = newId("tenant");
    await insertTenant(store, tenantId);
    await migrate(store, tablesOf(model, []));
    store.database.watch(
      (message) => reports.push(message),
      () => {},
    );
    const insert = async (): Promise<string> => {
      const now = new Date().toISOString();
      const values = { id: newId("note"), body, createdAt: now, updatedAt: now };
      const row = { resource: model.resource.get("note")!, tenantId, values };
      await store.transaction((session) => store.writes.insert(session, row));
      return values.id;
    };
    const stored = async (): Promise<unknown[]> => {
      const rows = await store.database.query({ sql: "select id from notes", bind: () => [] }, undefined);
      return rows.map(([id]) => id).sort();
    };
    const acknowledged = [await insert()];
    await store.database.run("pragma max_page_count = 60");
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, insert));
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") acknowledged.push(outcome.value);
      else assert.ok(outcome.reason instanceof Problem && outcome.reason.code === "unavailable");
    }
    await assert.rejects(insert(), LoggedProblem);
    assert.deepEqual(reports, ["the database cannot be written: the disk is full"]);
    assert.deepEqual(await stored(), acknowledged.sort());

    await store.database.run("pragma max_page_count = 100000");
    acknowledged.push(await insert());
    assert.deepEqual(await stored(), acknowledged.sort());
  } finally {
    await store.database.close();
    await workspace.remove();
  }
});
