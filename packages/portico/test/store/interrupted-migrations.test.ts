// Migrations beside each other, and migrations that fail in the middle.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { StatementSync } from "node:sqlite";
import { mock, test } from "node:test";
import { fileURLToPath } from "node:url";
import { app } from "../../src/declare/app.ts";
import { integer, text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { errorMessage } from "../../src/lib/error-message.ts";
import { newId } from "../../src/lib/id.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { openStore } from "../../src/store/open.ts";
import { type MigrationOptions, migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { simulateFullDisk } from "../support/full-disk.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";
import { insertTenant } from "../support/tenants.ts";

const rowCount = 600;

type Options = Parameters<typeof resource>[1];

function modelOf(options: Options) {
  return buildModel(app({ name: "Notes", resources: [resource("note", options)] }), []);
}

const old = modelOf({ fields: { title: text({ max: 100 }), size: integer({ optional: true }) } });
/** It fills a field, computes search words, and creates indexes. */
const young = modelOf({
  fields: { title: text({ max: 100 }), rank: integer({ fill: 7 }) },
  filter: ["rank"],
  search: ["title"],
});

onEachDatabase("migrations", (database) => {
  async function using(work: (store: Store, workspace: Workspace) => Promise<void>): Promise<void> {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    try {
      await migrate(store, tablesOf(old, []));
      const tenantId = newId("tenant");
      await insertTenant(store, tenantId);
      await store.transaction(async (session) => {
        for (let row = 0; row < rowCount; row += 1) {
          const createdAt = new Date(Date.UTC(2026, 0, 1) + row).toISOString();
          const values = { id: newId("note"), title: `Note ${row}`, createdAt, updatedAt: createdAt };
          await store.writes.insert(session, { resource: old.resource.get("note")!, tenantId, values });
        }
      });
      await work(store, workspace);
    } finally {
      await store.database.close();
      await workspace.remove();
    }
  }

  const count = async (store: Store, condition: string): Promise<number> => {
    const query = { sql: `select count(*) from notes where ${condition}`, bind: () => [] };
    return Number((await store.database.query(query, undefined))[0]![0]);
  };
  const update = (store: Store, options: MigrationOptions = {}) =>
    migrate(store, tablesOf(young, []), { kept: ["notes.size"], ...options });

  test("exclude each other, also between their transactions and in the contraction", () =>
    using(async (store, workspace) => {
      const other = await openStore(workspace.databaseUrl);
      try {
        for (const isContraction of [false, true]) {
          const order: string[] = [];
          let second: Promise<readonly string[]> | undefined;
          const { statements } = await update(store, {
            isContraction,
            onProgress: () => {
              order.push("first");
              second ??= update(other, { isContraction, onProgress: () => order.push("second") }).then(
                (migration) => {
                  order.push("second ended");
                  return migration.statements;
                },
              );
            },
            complete: async () => {
              order.push("first ended");
            },
          });
          assert.ok(statements.length > 0);
          assert.deepEqual(await second, []);
          const steps = order.filter((each) => each === "first").length;
          assert.ok(steps >= 3);
          assert.deepEqual(order, [...Array(steps).fill("first"), "first ended", "second ended"]);
        }
        if (database === "sqlite")
          assert.equal(existsSync(`${fileURLToPath(workspace.databaseUrl)}-migration`), false);
      } finally {
        await other.database.close();
      }
    }));

  test("continue a plan that was interrupted, unless other steps are due by then", () =>
    using(async (store) => {
      const { plan: reviewed } = await update(store, { isDryRun: true });
      const fault = (): never => {
        throw new Error("a fault");
      };
      await assert.rejects(update(store, { reviewed, onProgress: fault }), /a fault/);
      const index = "portico_notes_created_at_id";
      await store.database.run(`drop index ${index}`);
      await assert.rejects(
        update(store, { reviewed }),
        /the steps of the plan are not those of this version/,
      );
      await store.database.run(`create index ${index} on notes (tenant_no, created_at, id)`);
      await assert.rejects(update(store, { reviewed, complete: fault }), /a fault/);
      const { statements } = await update(store, { reviewed });
      assert.deepEqual(statements, []);
      await assert.rejects(update(store, { reviewed }), /the schema of the database has changed/);
      assert.equal(await count(store, "rank = 7"), rowCount);
    }));

  test("that drop a field and are interrupted continue with the same request", () =>
    using(async (store) => {
      const drops = [{ name: "notes.size", table: "notes", column: "size" }];
      const fault = (): never => {
        throw new Error("a fault");
      };
      await assert.rejects(update(store, { drops, onProgress: fault }), /a fault/);
      // Another request continues nothing.
      const others = [{ name: "notes.title", table: "notes", column: "title" }];
      await assert.rejects(update(store, { drops: others }), /the field title of note is declared/);
      await assert.rejects(update(store, { drops, complete: fault }), /a fault/);
      assert.deepEqual((await update(store, { drops })).statements, []);
      await assert.rejects(update(store, { drops }), /has no column size/);
    }));

  test("let others write between two indexes", () =>
    using(async (store) => {
      if (database === "postgres") return;
      const { all } = StatementSync.prototype;
      const texts: string[] = [];
      const recorded = mock.method(
        StatementSync.prototype,
        "all",
        function (this: StatementSync, ...values: []) {
          texts.push(this.sourceSQL.split(" ").slice(0, 2).join(" "));
          return Reflect.apply(all, this, values);
        },
      );
      const fields = { title: text({ max: 100 }), size: integer({ optional: true }) };
      await migrate(store, tablesOf(modelOf({ fields, filter: ["title", "size"] }), []));
      recorded.mock.restore();
      const written = texts.filter((each) => ["create index", "commit"].includes(each));
      assert.deepEqual(written, ["commit", "create index", "commit", "create index", "commit"]);
    }));

  test("on a disk that fills up leave a database that serves, and continue once there is space", () =>
    using(async (store, workspace) => {
      const release = await fillDisk(store, workspace);
      const failure = await update(store).then(() => undefined, errorMessage);
      assert.match(String(failure), /disk is full|No space left on device/);
      const note = old.resource.get("note")!;
      const createdAt = new Date().toISOString();
      const values = { id: newId("note"), title: "Later", createdAt, updatedAt: createdAt };
      const [tenantId] = (
        await store.database.query({ sql: "select id from tenants", bind: () => [] }, undefined)
      )[0] as [string];
      const insert = () =>
        store.transaction((session) => store.writes.insert(session, { resource: note, tenantId, values }));
      assert.equal(await count(store, "true"), rowCount);
      await release();
      await insert();
      await update(store);
      assert.equal(await count(store, "rank = 7"), rowCount + 1);
      assert.deepEqual((await update(store)).statements, []);
    }));

  /** Leaves space for little. @returns a function that makes space */
  async function fillDisk(store: Store, { databaseUrl }: Workspace): Promise<() => Promise<void>> {
    if (database === "postgres") return simulateFullDisk(databaseUrl, "CREATE INDEX");
    const query = { sql: "pragma page_count", bind: () => [] };
    const pages = Number((await store.database.query(query, undefined))[0]![0]);
    await store.database.run(`pragma max_page_count = ${pages + 4}`);
    return () => store.database.run("pragma max_page_count = 1000000");
  }
});
