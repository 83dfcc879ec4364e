// SQLite records how far rows are from the order of their creation, so that a search may rely on it.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { app } from "../../src/declare/app.ts";
import { text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { newId } from "../../src/lib/id.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import { randomRuns } from "../support/random-runs.ts";
import { makeWorkspace, Portico, PorticoProcess, type Workspace } from "../support/server.ts";

const fields = { title: text({ max: 200 }) };
const notes = resource("note", { fields, search: ["title"] });
const hooked = resource("item", {
  fields,
  search: ["title"],
  hooks: {
    before: {
      create: ({ title }) => ({ title: `${title} checked` }),
    },
    after: {
      create: async (_row, { rows }) => {
        await rows.create(notes, { title: "from a hook" });
      },
    },
  },
});
const declared = app({ name: "Notes", resources: [notes, hooked] });
const tables = tablesOf(buildModel(app({ name: "Notes", resources: [notes] }), []), []);

async function migrated(workspace: Workspace): Promise<readonly string[]> {
  const store = await openStore(workspace.databaseUrl);
  try {
    return (await migrate(store, tables)).statements;
  } finally {
    await store.database.close();
  }
}

function fileOf({ databaseUrl }: Workspace): DatabaseSync {
  return new DatabaseSync(fileURLToPath(databaseUrl));
}

function timeAt(milliseconds: number): string {
  return new Date(Date.UTC(2026, 0, 1) + milliseconds).toISOString();
}

function insert(file: DatabaseSync, time: string, rowNo: number | null = null): void {
  file
    .prepare(
      "insert into notes (row_no, tenant_no, id, title, search_words, created_at) values (?, 1, ?, 'a', ' a', ?)",
    )
    .run(rowNo, newId("note"), time);
}

function recordedDisorder(file: DatabaseSync, table = "notes"): number {
  const row = file.prepare("select disorder from portico_search_order where table_name = ?").get(table);
  return Number(row!.disorder);
}

/** By how many milliseconds a row is older than one with a lower number, at most. */
function trueDisorder(file: DatabaseSync, table = "notes"): number {
  const rows = file.prepare(`select created_at as time from ${table} order by row_no`).all();
  let newest = Number.NEGATIVE_INFINITY;
  let disorder = 0;
  for (const { time } of rows) {
    newest = Math.max(newest, Date.parse(String(time)));
    disorder = Math.max(disorder, newest - Date.parse(String(time)));
  }
  return disorder;
}

async function withWorkspace(work: (workspace: Workspace) => Promise<void>): Promise<void> {
  const workspace = await makeWorkspace("sqlite");
  try {
    await work(workspace);
  } finally {
    await workspace.remove();
  }
}

describe("the order of creation", () => {
  test("the recorded disorder is never less than that of the rows, whatever is inserted and deleted", () =>
    withWorkspace(async (workspace) => {
      await migrated(workspace);
      const file = fileOf(workspace);
      const change = fc.oneof(
        { weight: 4, arbitrary: fc.record({ kind: fc.constant("insert" as const), value: fc.nat(5_000) }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), value: fc.nat(20) }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant("restore" as const), value: fc.nat(20) }) },
      );
      try {
        fc.assert(
          fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
            file.exec("delete from notes; update portico_search_order set newest = '', disorder = 0");
            let largest = 0;
            const deleted: { readonly row_no: number; readonly created_at: string }[] = [];
            for (const { kind, value } of changes) {
              if (kind === "insert") insert(file, timeAt(value));
              else if (kind === "delete")
                deleted.push(
                  ...(file
                    .prepare(
                      "delete from notes where row_no = (select max(row_no) from notes) - ? returning row_no, created_at",
                    )
                    .all(value) as unknown as typeof deleted),
                );
              else if (deleted.length > 0) {
                const [row] = deleted.splice(value % deleted.length, 1);
                const rows = file.prepare("select row_no as n from notes").all();
                const isFree =
                  rows.every(({ n }) => n !== row!.row_no) && rows.some(({ n }) => Number(n) > row!.row_no);
                insert(file, row!.created_at, isFree ? row!.row_no : null);
              }
              const disorder = trueDisorder(file);
              largest = Math.max(largest, disorder);
              assert.ok(recordedDisorder(file) >= disorder);
            }
            // Nothing is recorded about rows in order.
            if (largest === 0 && changes.every(({ kind }) => kind === "insert"))
              assert.equal(recordedDisorder(file), 0);
          }),
          { numRuns: randomRuns(250, 100) },
        );
      } finally {
        file.close();
      }
    }));

  test("a change of the order by hand leaves a table that may be in any order", () =>
    withWorkspace(async (workspace) => {
      await migrated(workspace);
      const file = fileOf(workspace);
      const century = 100 * 365 * 86_400_000;
      const reset = "delete from notes; update portico_search_order set newest = '', disorder = 0";
      try {
        for (const byHand of [
          () => file.exec(`update notes set created_at = '${timeAt(1)}' where row_no = 7`),
          () => file.exec("update notes set row_no = 1 where row_no = 8"),
          () => insert(file, timeAt(9_000), 2),
        ]) {
          file.exec(reset);
          for (const row of [6, 7, 8]) insert(file, timeAt(row * 1000), row);
          file.exec("update notes set title = 'b'");
          assert.equal(recordedDisorder(file), 0);
          byHand();
          assert.ok(recordedDisorder(file) > century);
        }
      } finally {
        file.close();
      }
    }));

  test("a row that comes back between those that were created before and after it adds no disorder", () =>
    withWorkspace(async (workspace) => {
      await migrated(workspace);
      const file = fileOf(workspace);
      try {
        for (const row of [1, 2, 4, 5]) insert(file, timeAt(row * 1000), row);
        insert(file, timeAt(3_000), 3);
        assert.equal(recordedDisorder(file), 0);
        // As many rows in between as there are, some of them late.
        for (const time of [9_000, 8_500, 9_500]) insert(file, timeAt(time));
        const disorder = recordedDisorder(file);
        file.exec("delete from notes where row_no = 7");
        insert(file, timeAt(8_500), 7);
        assert.ok(recordedDisorder(file) > disorder);
      } finally {
        file.close();
      }
    }));

  test("a migration records the disorder of a database of an earlier version", () =>
    withWorkspace(async (workspace) => {
      await migrated(workspace);
      const file = fileOf(workspace);
      try {
        file.exec(
          `drop trigger portico_notes_creation_order; drop trigger portico_notes_creation_order_update;
           drop table portico_search_order`,
        );
        for (const milliseconds of [1_000, 3_000, 2_500, 2_900, 4_000]) insert(file, timeAt(milliseconds));
        assert.equal((await migrated(workspace)).length, 4);
        const disorder = recordedDisorder(file);
        assert.ok(disorder >= 500 && disorder <= 501, String(disorder));
        insert(file, timeAt(3_300));
        assert.ok(recordedDisorder(file) >= 700);
        assert.deepEqual(await migrated(workspace), []);
      } finally {
        file.close();
      }
    }));

  test("rows that one server creates at once are in order, with and without hooks", () =>
    withWorkspace(async (workspace) => {
      const server = await Portico.startApp(workspace, declared);
      try {
        const paths = ["/notes", "/items"];
        await Promise.all(
          Array.from({ length: 64 }, async (_, index) => {
            const answer = await server.request(paths[index % 2]!, { body: { title: `Row ${index}` } });
            assert.equal(answer.status, 201, answer.text);
          }),
        );
      } finally {
        await server.stop();
      }
      const file = fileOf(workspace);
      assert.equal(file.prepare("select count(*) as n from notes").get()!.n, 64);
      for (const table of ["notes", "items"]) assert.equal(recordedDisorder(file, table), 0, table);
      file.close();
    }));

  test("rows that two processes create at once are nearly in order", () =>
    withWorkspace(async (workspace) => {
      const first = await PorticoProcess.start(workspace);
      const second = await PorticoProcess.start(workspace, { key: first.key });
      try {
        await Promise.all(
          Array.from({ length: 64 }, async (_, index) => {
            const server = index % 2 === 0 ? first : second;
            const answer = await server.request("/posts", { body: { title: `Post ${index}` } });
            assert.equal(answer.status, 201, answer.text);
          }),
        );
      } finally {
        await Promise.all([first.stop(), second.stop()]);
      }
      const file = fileOf(workspace);
      const disorder = recordedDisorder(file, "posts");
      assert.ok(disorder >= trueDisorder(file, "posts"));
      file.close();
    }));
});
