// Which way a search takes for words of different frequency, and that it reads no more than the way promises.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { newId } from "../../src/lib/id.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Condition } from "../../src/query/condition.ts";
import { wholeRow } from "../../src/query/selection.ts";
import type { Statement } from "../../src/store/database.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, onEachDatabase } from "../support/server.ts";
import { insertTenant } from "../support/tenants.ts";

const notes = resource("note", { fields: { title: text({ max: 200 }) }, search: ["title"] });
const essays = resource("essay", {
  fields: { title: text({ max: 200 }), body: text({ max: 20_000 }) },
  search: ["title", "body"],
});
const model = buildModel(app({ name: "Notes", resources: [notes, essays] }), []);
const note = model.resource.get("note")!;
const essay = model.resource.get("essay")!;
const tenantId = newId("tenant");
const rowCount = 1_000;

interface Run {
  readonly isSlow: boolean;
  /** The words that the statement looks up in the search index, and those that it checks on rows. */
  readonly indexed: string[];
  readonly checked: string[];
  /** Set if it relies on the order of creation. */
  readonly isByCreation?: true;
}

/** Searches, and returns the ids found and the statements that ran. */
async function search(
  store: Store,
  words: readonly string[],
  searched = note,
  conditions: readonly Condition[] = [],
): Promise<{ count: number; runs: Run[] }> {
  // Later reads know the number of the tenant.
  await store.tenants.findNumber(store.database, tenantId);
  const runs: Run[] = [];
  const { query } = store.database;
  const recording = (statement: Statement<unknown>, input: unknown) => {
    // Not the statement that finds the number of the tenant.
    const texts = statement.bind(input).filter((value) => typeof value === "string");
    const bound = texts.filter((text) => text !== tenantId);
    if (statement.meanings?.includes("tenant of the sample") !== true && bound.length > 0)
      runs.push({
        isSlow: statement.mayScan === true,
        indexed: words.filter((word) => bound.some((value) => new RegExp(`\\d${word}\\W`).test(value))),
        checked: words.filter((word) => bound.includes(` ${word}`)),
        ...(statement.sql.includes("portico_search_order") && { isByCreation: true }),
      });
    return query.call(store.database, statement, input);
  };
  Object.assign(store.database, { query: recording });
  try {
    const { count } = await store.list(tenantId, {
      resource: searched,
      selection: wholeRow(searched),
      conditions,
      words,
      sort: [{ attribute: searched.attribute.get("createdAt")!, isDescending: true }],
      page: { style: "cursor", limit: 20, position: undefined, isBackward: false },
    });
    return { count, runs };
  } finally {
    Object.assign(store.database, { query });
  }
}

onEachDatabase("the way of a search", (database) => {
  test("depends on the frequency of its words", async () => {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    try {
      await migrate(store, tablesOf(model, []));
      await insertTenant(store, tenantId);
      await store.transaction(async (session) => {
        for (let row = 0; row < rowCount; row += 1) {
          const createdAt = new Date(Date.UTC(2026, 0, 1) + row * 1000).toISOString();
          const title = `${row % 2 === 0 ? "even" : "odd"} all ${row % 250 === 0 ? "rare" : ""} ${row < 100 ? "old" : ""}`;
          const values = { id: newId("note"), title, createdAt, updatedAt: createdAt };
          await store.writes.insert(session, { resource: note, tenantId, values });
        }
      });
      const isRemote = database === "postgres";

      // A frequent word is checked on the rows of a walk.
      for (const word of ["even", "e", "al"])
        assert.deepEqual(await search(store, [word]), {
          count: 20,
          runs: [{ isSlow: false, indexed: [], checked: [word] }],
        });
      const both = await search(store, ["even", "all"]);
      assert.deepEqual(both.runs, [{ isSlow: false, indexed: [], checked: ["even", "all"] }]);

      // A rare word is looked up in the index, and SQLite counts its matches before the first search.
      const lookUp = { isSlow: isRemote, indexed: ["rare"], checked: [] };
      const count = { ...lookUp, isSlow: true };
      assert.deepEqual(await search(store, ["rare"]), {
        count: 4,
        runs: isRemote ? [lookUp] : [count, lookUp],
      });
      assert.deepEqual(await search(store, ["rare"]), { count: 4, runs: [lookUp] });

      // A frequent word beside a rare one is checked on the rows of the rare one.
      await search(store, ["even", "rare"]);
      const mixed = await search(store, ["even", "rare"]);
      assert.deepEqual(mixed, { count: 4, runs: [{ ...lookUp, checked: ["even"] }] });

      // SQLite looks up the first matches in the order of creation; PostgreSQL sorts all matches.
      await search(store, ["old"]);
      const old = { isSlow: isRemote, indexed: ["old"], checked: [] };
      assert.deepEqual(await search(store, ["old"]), {
        count: 20,
        runs: [isRemote ? old : { ...old, isByCreation: true }],
      });
      await search(store, ["even", "old"]);
      const evenOld = await search(store, ["even", "old"]);
      assert.equal(evenOld.count, 20);
      assert.deepEqual(evenOld.runs[0]!.checked, ["even"]);
      assert.equal(evenOld.runs[0]!.isByCreation, isRemote ? undefined : true);

      // Frequent words that never occur together are looked up as a slow read.
      await search(store, ["even", "odd"]);
      const apart = await search(store, ["even", "odd"]);
      assert.deepEqual(apart, { count: 0, runs: [{ isSlow: true, indexed: ["even", "odd"], checked: [] }] });
    } finally {
      await store.database.close();
      await workspace.remove();
    }
  });

  test("is a slow read where it has to read long texts", async () => {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    try {
      await migrate(store, tablesOf(model, []));
      await insertTenant(store, tenantId);
      await store.transaction(async (session) => {
        for (let row = 0; row < 120; row += 1) {
          const createdAt = new Date(Date.UTC(2026, 0, 1) + row * 1000).toISOString();
          // The newest rows are short.
          const body =
            row < 60 ? Array.from({ length: 1_200 }, (_, word) => `w${row}x${word}`).join(" ") : "";
          const title = `all ${row >= 60 && row < 72 ? "some" : ""}`;
          const values = { id: newId("essay"), title, body, createdAt, updatedAt: createdAt };
          await store.writes.insert(session, { resource: essay, tenantId, values });
        }
      });
      const walk = (word: string, isSlow: boolean): Run => ({ isSlow, indexed: [], checked: [word] });
      // The page ends before the long rows.
      const short = { count: 20, runs: [walk("all", false)] };
      assert.deepEqual(await search(store, ["all"], essay), short);
      const first = await search(store, ["some"], essay);
      assert.deepEqual(first, { count: 12, runs: [walk("some", false), walk("some", true)] });
      assert.deepEqual(await search(store, ["some"], essay), { count: 12, runs: [walk("some", true)] });
      const condition = {
        attribute: essay.attribute.get("body")!,
        operator: "contains",
        values: ["-"],
      } as const;
      const filtered = await search(store, ["all"], essay, [condition]);
      assert.deepEqual(filtered.runs[0], walk("all", true));
      assert.equal(filtered.count, 0);
    } finally {
      await store.database.close();
      await workspace.remove();
    }
  });
});
