// The triggers of the search index are deferred within a transaction only, so that no fault leaves them deferred.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { app } from "../../src/declare/app.ts";
import { text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { DeferredIndexing } from "../../src/store/sqlite/deferred-indexing.ts";
import { makeWorkspace } from "../support/server.ts";

const notes = resource("note", { fields: { title: text({ max: 100 }) }, search: ["title"] });
const model = buildModel(app({ name: "Notes", resources: [notes] }), []);

const insert = {
  sql: `insert into notes (tenant_no, id, title, created_at, search_words)
    values (1, ?, 'loom', '2026-01-01T00:00:00.000Z', ' loom')`,
  bind: (id: string) => [id],
  searchedTable: "notes",
};

async function withConnection(work: (connection: SqliteConnection) => void): Promise<void> {
  const workspace = await makeWorkspace("sqlite");
  const store = await openStore(workspace.databaseUrl);
  await migrate(store, tablesOf(model, []));
  const connection = new SqliteConnection(fileURLToPath(workspace.databaseUrl), 0);
  try {
    work(connection);
  } finally {
    connection.native.close();
    await store.database.close();
    await workspace.remove();
  }
}

const counts = (connection: SqliteConnection): readonly unknown[] =>
  connection.all(
    "select (select count(*) from notes), (select count(*) from notes_search_docsize), (select count(*) from portico_search_deferral)",
  )[0]!;

test("rows are indexed at the end of a transaction", () =>
  withConnection((connection) => {
    const indexing = new DeferredIndexing(connection);
    connection.all("begin immediate");
    for (const id of ["a", "b"]) indexing.read(insert, id, true);
    assert.deepEqual([...counts(connection)], [2, 0, 1]);
    indexing.indexRows();
    connection.all("commit");
    assert.deepEqual([...counts(connection)], [2, 2, 0]);
  }));

test("a row that is inserted after its transaction was rolled back is indexed at once", () =>
  withConnection((connection) => {
    const indexing = new DeferredIndexing(connection);
    indexing.read(insert, "a", true);
    assert.deepEqual([...counts(connection)], [1, 1, 0]);
  }));

test("after a rollback, triggers index rows until the next deferral", () =>
  withConnection((connection) => {
    const indexing = new DeferredIndexing(connection);
    connection.all("begin immediate");
    indexing.read(insert, "a", true);
    connection.all("rollback");
    indexing.forget();
    connection.all("begin immediate");
    indexing.read(insert, "b", false);
    indexing.read(insert, "c", true);
    indexing.indexRows();
    connection.all("commit");
    assert.deepEqual([...counts(connection)], [2, 2, 0]);
  }));

test("a failure of the index ends the deferral for good, so that later writes fail one by one", () =>
  withConnection((connection) => {
    const indexing = new DeferredIndexing(connection);
    connection.all("begin immediate");
    indexing.read(insert, "a", true);
    connection.all("drop table notes_search");
    assert.throws(() => indexing.indexRows(), /no such table/);
    connection.all("rollback");
    indexing.forget();
    connection.all("begin immediate");
    indexing.read(insert, "b", true);
    connection.all("commit");
    assert.deepEqual([...counts(connection)], [1, 1, 0]);
  }));
