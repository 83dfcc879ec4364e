// The names of indexes: each says what its index consists of, whatever fields and tables are called, so that a migration
// creates every declared index and then has nothing left to do.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { app, type Resource, resource, text } from "../../src/index.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Table } from "../../src/store/schema/table.ts";
import type { Store } from "../../src/store/store.ts";
import { randomRuns } from "../support/random-runs.ts";
import { type DatabaseName, makeWorkspace, onEachDatabase } from "../support/server.ts";

/** The declarations are random, so their types say nothing. */
const declare = resource as unknown as (name: string, declaration: object) => Resource;

function tablesFor(resources: readonly Resource[]): Table[] {
  return tablesOf(buildModel(app({ name: "Names", resources }), []), []);
}

const names = ["a", "aB", "aBC", "b", "bC", "c", "cDesc", "aDesc"];
const fields = Object.fromEntries(names.map((name) => [name, text({ max: 9 })]));
const longName = `a${"bcdefghij".repeat(4).slice(0, 39)}`;

const note = (more: object, name = "note"): Resource => declare(name, { fields, ...more });

/** Declarations that follow one another. */
const cases: Readonly<Record<string, readonly (readonly Resource[])[]>> = {
  "columns that can be split in two ways": [
    [
      note({
        sort: ["c", "bC"],
        indexes: [
          ["aB", "c"],
          ["a", "bC"],
        ],
      }),
    ],
  ],
  "unique columns that can be split in two ways": [
    [
      note({
        unique: [
          ["aB", "c"],
          ["a", "bC"],
        ],
      }),
    ],
  ],
  "a constraint that becomes another one of the same words": [
    [note({ unique: [["aB", "c"]] })],
    [note({ unique: [["a", "bC"]] })],
  ],
  "a descending column, and one whose name ends in desc": [
    [
      note({
        sort: ["c", "cDesc"],
        indexes: [
          ["a", "-c"],
          ["a", "cDesc"],
        ],
      }),
    ],
  ],
  "a column of one table, and a table with its name": [
    [
      declare("note", { fields: { pagesA: text({ max: 9 }) }, sort: ["pagesA"] }),
      note({ sort: ["a"] }, "notesPage"),
    ],
  ],
  "a table whose name begins with unique": [
    [
      declare("note", { fields: { aId: text({ max: 9 }) }, unique: [["aId"]] }),
      note({ sort: ["a"] }, "uniqueNote"),
    ],
  ],
  "a sorted field that becomes required, and optional again": [
    [note({ fields: { a: text({ max: 9, optional: true }) }, sort: ["a"] })],
    [note({ fields: { a: text({ max: 9, fill: "x" }) }, sort: ["a"] })],
    [note({ fields: { a: text({ max: 9, optional: true }) }, sort: ["a"] })],
  ],
  "the longest names": [
    [
      declare(longName, {
        fields: { ...fields, [longName]: text({ max: 9 }) },
        search: [longName],
        sort: [longName],
      }),
    ],
    [
      declare(longName, {
        fields: { ...fields, [longName]: text({ max: 9 }) },
        search: ["a"],
        unique: [[longName, "a"]],
      }),
    ],
  ],
};

onEachDatabase("the names of indexes", (database) => {
  for (const [name, versions] of Object.entries(cases))
    test(name, async () => {
      const workspace = await makeWorkspace(database);
      const store = await openStore(workspace.databaseUrl);
      try {
        for (const resources of versions) {
          const tables = tablesFor(resources);
          await migrate(store, tables, { isContraction: true });
          const expected = tables.flatMap(({ indexes }) =>
            indexes.map(({ columns }) => textOf(columns, database)),
          );
          const actual = await existingIndexes(store);
          assert.deepEqual(actual.toSorted(), expected.toSorted());
          assert.deepEqual((await migrate(store, tables, { isContraction: true })).statements, []);
        }
      } finally {
        await store.database.close();
        await workspace.remove();
      }
    });
});

test("indexes with different columns have different names, also in another version of the declaration", () => {
  const name = fc.constantFrom(...names);
  const list = fc.uniqueArray(name, { minLength: 1, maxLength: 3 });
  const lists = fc.uniqueArray(list, { maxLength: 4, selector: (fields) => fields.toSorted().join() });
  const descending = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 });
  const declaration = fc.record({ unique: lists, indexes: lists, descending });
  fc.assert(
    fc.property(fc.array(declaration, { minLength: 1, maxLength: 2 }), (versions) => {
      const columnsByName = new Map<string, string>();
      for (const { unique, indexes, descending } of versions) {
        // Of one field it is the index of the sort.
        const ordered = indexes
          .filter(({ length }) => length > 1)
          .map((list, index) => [...list.slice(0, -1), `${descending[index] ? "-" : ""}${list.at(-1)}`]);
        const [table] = tablesFor([note({ unique, indexes: ordered, sort: names })]);
        const seen = new Set<string>();
        for (const { name, columns, isUnique } of table!.indexes) {
          assert.ok(!seen.has(name) && name.length <= 63, name);
          seen.add(name);
          const content = `${isUnique} ${textOf(columns)}`;
          assert.equal(columnsByName.get(name) ?? content, content, name);
          columnsByName.set(name, content);
        }
      }
    }),
    { numRuns: randomRuns(200, 60) },
  );
});

/** As PostgreSQL shows them. SQLite has one order of nulls. */
function textOf(columns: Table["indexes"][number]["columns"], database: DatabaseName = "postgres"): string {
  return columns
    .map(({ name, isDescending, isNullable }) => {
      const nulls = isNullable && database === "postgres" ? ` NULLS ${isDescending ? "LAST" : "FIRST"}` : "";
      return `${name}${isDescending ? " desc" : ""}${nulls}`;
    })
    .join(", ");
}

/** The columns of each index that is not of a primary key, as `textOf`. */
async function existingIndexes({ dialect, database }: Store): Promise<string[]> {
  const text =
    dialect.name === "sqlite"
      ? "select sql from sqlite_schema where type = 'index' and sql is not null"
      : "select indexdef from pg_indexes where schemaname = current_schema() and indexname like 'portico%' and indexdef not like '%gin%'";
  const rows = await database.query({ sql: text, bind: () => [] }, undefined);
  return rows.map(([definition]) =>
    /\((.*)\)/.exec(String(definition))![1]!.replaceAll('"', "").replaceAll("DESC", "desc"),
  );
}
