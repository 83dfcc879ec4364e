// Migrations of tables that other connections use at the same time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { app } from "../../src/declare/app.ts";
import { integer, text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Table } from "../../src/store/schema/table.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, onEachDatabase } from "../support/server.ts";

const plain = { title: text({ max: 100 }) };

onEachDatabase("migrations of tables in use", (database) => {
  if (database !== "postgres") return;

  async function using(use: (store: Store, sql: postgres.Sql) => Promise<void>): Promise<void> {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    const sql = postgres(workspace.databaseUrl, { max: 3, onnotice: () => {} });
    try {
      await migrate(store, tables(plain));
      await use(store, sql);
    } finally {
      await sql.end();
      await store.database.close();
      await workspace.remove();
    }
  }

  test("a long transaction delays the migration, and the migration delays no other connection", () =>
    using(async (store, sql) => {
      const gate = Promise.withResolvers<void>();
      const lasting = sql.begin(async (transaction) => {
        await transaction`select id from notes`;
        await gate.promise;
      });
      await sleep(100);
      let isDone = false;
      const migrating = migrate(store, tables({ ...plain, pages: integer({ default: 0 }) })).then(() => {
        isDone = true;
      });
      for (let count = 0; count < 10; count += 1) {
        // Far shorter than the transaction.
        await sql.begin(async (transaction) => {
          await transaction`set local lock_timeout = 1500`;
          await transaction`select id from notes`;
        });
        await sleep(100);
      }
      assert.equal(isDone, false);
      gate.resolve();
      await lasting;
      await migrating;
      const { statements } = await migrate(store, tables({ ...plain, pages: integer({ default: 0 }) }));
      assert.deepEqual(statements, []);
    }));

  test("an index whose creation was interrupted is created again", () =>
    using(async (store, sql) => {
      const unique = tables({ title: text({ max: 100, unique: true }) });
      const [name] = unique
        .flatMap(({ indexes }) => indexes.filter((each) => each.isUnique))
        .map((each) => each.name);
      for (const id of ["a", "b"])
        await sql`insert into notes (tenant_no, id, title, created_at, updated_at) values (1, ${id}, 'Same', now(), now())`;
      const index = `create unique index concurrently ${name} on notes (tenant_no, title)`;
      await assert.rejects(sql.unsafe(index).simple(), /duplicate|could not create unique index/);
      await sql`delete from notes where id = 'b'`;
      const { statements: done } = await migrate(store, unique);
      assert.ok(
        done.some((statement) => statement.startsWith("drop index concurrently")),
        done.join(),
      );
      assert.ok(
        done.some((statement) => statement.startsWith("create unique index concurrently")),
        done.join(),
      );
      assert.deepEqual((await migrate(store, unique)).statements, []);
    }));
});

function tables(fields: Parameters<typeof resource>[1]["fields"]): Table[] {
  return tablesOf(buildModel(app({ name: "Used", resources: [resource("note", { fields })] }), []), []);
}
