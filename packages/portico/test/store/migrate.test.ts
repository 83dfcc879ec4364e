// Migrations: additions are applied, changes that could lose data are refused with one line, a dry run only prints.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { app } from "../../src/declare/app.ts";
import {
  belongsTo,
  boolean,
  choice,
  integer,
  json,
  number,
  text,
  timestamp,
} from "../../src/declare/field.ts";
import { range } from "../../src/declare/filter.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { OperatorError } from "../../src/errors.ts";
import { newId } from "../../src/lib/id.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Model } from "../../src/model/model.ts";
import { wholeRow } from "../../src/query/selection.ts";
import { ConstraintError } from "../../src/store/database.ts";
import { openStore } from "../../src/store/open.ts";
import {
  type Migration,
  type MigrationOptions,
  migrate,
  pendingChanges,
} from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";
import { insertTenant } from "../support/tenants.ts";

const tenantId = newId("tenant");
const now = "2026-11-21T09:30:00.000Z";

/** Declares a resource without its type, because each version of a declaration has its own. */
const declareUntyped = resource as unknown as (name: string, declaration: object) => Resource;

const title = text({ max: 100 });
const owner = declareUntyped("owner", { fields: { title } });
/** The first version of the declaration that the tests change. */
const first = { fields: { title }, sort: ["title"] };
const changed = (fields: object, more: object = {}): object => ({
  ...first,
  ...more,
  fields: { title, ...fields },
});

function namesOf({ indexes }: Migration, change: Migration["indexes"][number]["change"]): string[] {
  return indexes.filter((index) => index.change === change).map(({ name }) => name);
}

function modelOf(declaration: object): Model {
  return buildModel(app({ name: "Changing", resources: [owner, declareUntyped("note", declaration)] }), []);
}

onEachDatabase("migrations", (database) => {
  /** A database with the first version, and optionally one row. */
  class Changing {
    readonly workspace: Workspace;
    readonly store: Store;
    readonly id: string = newId("note");

    private constructor(workspace: Workspace, store: Store) {
      this.workspace = workspace;
      this.store = store;
    }

    static async begin(hasRow: boolean): Promise<Changing> {
      const workspace = await makeWorkspace(database);
      const changing = new Changing(workspace, await openStore(workspace.databaseUrl));
      await insertTenant(changing.store, tenantId);
      await changing.migrate(first);
      if (hasRow) await changing.insert("note", { title: "Old" }, changing.id, first);
      return changing;
    }

    async migrate(declaration: object, isDryRun = false): Promise<readonly string[]> {
      return (await this.change(declaration, { isDryRun })).statements;
    }

    change(declaration: object, options?: MigrationOptions): Promise<Migration> {
      return migrate(this.store, tablesOf(modelOf(declaration), []), options);
    }

    async insert(name: string, values: object, id: string, declaration: object): Promise<void> {
      const insert = {
        resource: modelOf(declaration).resource.get(name)!,
        tenantId,
        values: { id, createdAt: now, updatedAt: now, ...values },
      };
      await this.store.transaction((session) => this.store.writes.insert(session, insert));
    }

    async row(declaration: object, id = this.id): Promise<Record<string, unknown>> {
      const note = modelOf(declaration).resource.get("note")!;
      const read = { resource: note, selection: wholeRow(note), id, conditions: [] };
      return JSON.parse((await this.store.get(tenantId, read))!);
    }

    async end(): Promise<void> {
      await this.store.database.close();
      await this.workspace.remove();
    }
  }
  const withChanging = async (hasRow: boolean, use: (changing: Changing) => Promise<void>): Promise<void> => {
    const changing = await Changing.begin(hasRow);
    try {
      await use(changing);
    } finally {
      await changing.end();
    }
  };

  test("a database that is up to date has nothing to do", () =>
    withChanging(true, async (changing) => {
      assert.deepEqual(await changing.migrate(first), []);
    }));

  const additions: readonly (readonly [fact: string, declaration: object, added: object])[] = [
    [
      "a text with a default",
      changed({ body: text({ max: 50, default: "it's new" }) }),
      { body: "it's new" },
    ],
    ["an optional text", changed({ body: text({ optional: true }) }), { body: null }],
    ["a number with a default", changed({ ratio: number({ default: 0.5 }) }), { ratio: 0.5 }],
    ["an integer with a default", changed({ count: integer({ default: -3 }) }), { count: -3 }],
    ["a boolean with the default true", changed({ isOpen: boolean({ default: true }) }), { isOpen: true }],
    ["a boolean with the default false", changed({ isOpen: boolean({ default: false }) }), { isOpen: false }],
    ["a choice with a default", changed({ kind: choice(["a", "b"], { default: "b" }) }), { kind: "b" }],
    ["JSON with a default", changed({ meta: json({ default: { a: ["'"] } }) }), { meta: { a: ["'"] } }],
    [
      "a timestamp with a default",
      changed({ at: timestamp({ default: "2026-01-01T02:00:00+02:00" }) }),
      { at: "2026-01-01T00:00:00.000Z" },
    ],
    [
      "an optional reference",
      changed({ owner: belongsTo(() => owner, { optional: true }) }),
      { ownerId: null },
    ],
    [
      "several fields, including a reference",
      changed({ count: integer({ default: 1 }), owner: belongsTo(() => owner, { optional: true }) }),
      { count: 1, ownerId: null },
    ],
  ];
  for (const [fact, declaration, added] of additions) {
    test(`${fact} is added, and existing rows have it`, () =>
      withChanging(true, async (changing) => {
        const statements = await changing.migrate(declaration, true);
        assert.ok(statements.length > 0);
        assert.deepEqual(await changing.row(first), { ...(await changing.row(first)), title: "Old" });
        const done = await changing.migrate(declaration);
        assert.deepEqual(done, statements, "a dry run prints the statements that are then applied");
        const row = { id: changing.id, title: "Old", ...added, createdAt: now, updatedAt: now };
        assert.deepEqual(await changing.row(declaration), row);
        assert.deepEqual(await changing.migrate(declaration), []);
        const another = newId("note");
        await changing.insert("note", { title: "New", ...added }, another, declaration);
        assert.partialDeepStrictEqual(await changing.row(declaration, another), added);
      }));
  }

  test("repeated dry runs change nothing", () =>
    withChanging(true, async (changing) => {
      const declaration = changed({ body: text({ default: "" }) });
      const statements = await changing.migrate(declaration, true);
      assert.deepEqual(await changing.migrate(declaration, true), statements);
      assert.ok(
        statements.some((statement) => /alter table "?notes"? add column "?body"?/i.test(statement)),
        statements.join(),
      );
    }));

  test("a required field without a default is added if there are no rows", () =>
    withChanging(false, async (changing) => {
      const declaration = changed({ body: text(), owner: belongsTo(() => owner) });
      await changing.migrate(declaration);
      assert.deepEqual(await changing.migrate(declaration), []);
    }));

  test("an added reference is enforced: a write fails unless it refers to a row of the tenant", () =>
    withChanging(true, async (changing) => {
      const declaration = changed({ owner: belongsTo(() => owner, { optional: true }) });
      await changing.migrate(declaration);
      const ownerId = newId("owner");
      await changing.insert("owner", { title: "Owner" }, ownerId, declaration);
      await changing.insert("note", { title: "Owned", ownerId }, newId("note"), declaration);
      const lost = { title: "Lost", ownerId: newId("owner") };
      await assert.rejects(changing.insert("note", lost, newId("note"), declaration));
    }));

  test("a field that becomes optional keeps its values", () =>
    withChanging(true, async (changing) => {
      const declaration = { ...first, fields: { title: text({ max: 100, optional: true }) } };
      await changing.migrate(declaration);
      const id = newId("note");
      await changing.insert("note", { title: null }, id, declaration);
      assert.equal((await changing.row(declaration, id))["title"], null);
      assert.equal((await changing.row(declaration))["title"], "Old");
      assert.deepEqual(await changing.migrate(declaration), []);
    }));

  const byTitle = "portico_notes_title_created_at_id";
  const byUpdate = "portico_notes_updated_at_created_at_id";

  test("indexes follow filters, and a contraction drops those that no filter needs", () =>
    withChanging(true, async (changing) => {
      const filtered = changed({}, { filter: ["title", range("updatedAt")] });
      const created = await changing.change(filtered);
      assert.deepEqual(
        created.indexes,
        [byTitle, byUpdate].map((name) => ({ name, table: "notes", change: "created", size: undefined })),
      );
      assert.equal(created.statements.length, 2);
      assert.ok(created.statements.every((statement) => statement.startsWith("create index")));

      for (const isDryRun of [true, false]) {
        const waiting = await changing.change(first, { isDryRun });
        assert.deepEqual(waiting.statements, [], "an earlier version may still read along them");
        assert.deepEqual(namesOf(waiting, "unneeded"), [byTitle, byUpdate]);
      }
      assert.deepEqual(
        await pendingChanges(changing.store, tablesOf(modelOf(filtered), [])),
        [],
        "the earlier version can be restarted",
      );

      const planned = await changing.change(first, { isDryRun: true, isContraction: true });
      const dropped = await changing.change(first, { isContraction: true });
      assert.deepEqual(dropped, planned);
      assert.deepEqual(namesOf(dropped, "dropped"), [byTitle, byUpdate]);
      assert.ok(dropped.indexes.every(({ size }) => size !== undefined && size > 0 && size % 4096 === 0));
      assert.ok(dropped.statements.every((statement) => statement.startsWith("drop index")));
      const { statements, indexes } = await changing.change(first, { isContraction: true });
      assert.deepEqual([statements, indexes], [[], []]);
    }));

  test("a declared index is created in its direction, nulls as the smallest values", () =>
    withChanging(true, async (changing) => {
      const rank = changed({ rank: integer({ optional: true }) }, { sort: ["title", "rank"] });
      await changing.migrate(rank);
      const indexed = changed(
        { rank: integer({ optional: true }) },
        { sort: ["title", "rank"], indexes: [["title", "-rank"]] },
      );
      const nulls = database === "postgres" ? " nulls last" : "";
      const [statement, ...others] = await changing.migrate(indexed);
      assert.deepEqual(others, []);
      assert.ok(
        statement?.endsWith(
          `"portico_notes_title_rank_desc_null_id_desc" on "notes" ("tenant_no", "title", "rank" desc${nulls}, "id" desc)`,
        ),
        String(statement),
      );
      assert.deepEqual(await changing.migrate(indexed), []);
      assert.deepEqual(namesOf(await changing.change(rank), "unneeded"), [
        "portico_notes_title_rank_desc_null_id_desc",
      ]);
    }));

  test("several fields that are no longer unique together are free at once", () =>
    withChanging(true, async (changing) => {
      const kind = choice(["a", "b"], { default: "a" });
      const unique = changed({ kind }, { unique: [["title", "kind"]] });
      await changing.migrate(unique);
      const row = { title: "Old", kind: "a" };
      await assert.rejects(changing.insert("note", row, newId("note"), unique));
      const free = await changing.change(changed({ kind }));
      assert.deepEqual(namesOf(free, "dropped"), ["portico_unique_notes_title_kind"]);
      await changing.insert("note", row, newId("note"), changed({ kind }));
      await assert.rejects(
        changing.migrate(unique),
        /several rows have the same title and kind; change them first/,
      );
    }));

  test("an added resource gets its table", () =>
    withChanging(true, async (changing) => {
      const resources = [owner, declareUntyped("note", first), declareUntyped("tag", { fields: { title } })];
      const tables = tablesOf(buildModel(app({ name: "Changing", resources }), []), []);
      await migrate(changing.store, tables);
      assert.deepEqual((await migrate(changing.store, tables)).statements, []);
    }));

  test("of several processes that migrate concurrently, one applies the migration", () =>
    withChanging(true, async (changing) => {
      const declaration = changed({ body: text({ default: "" }) });
      const stores = await Promise.all([1, 2, 3].map(() => openStore(changing.workspace.databaseUrl)));
      const tables = tablesOf(modelOf(declaration), []);
      const done = await Promise.all(stores.map((store) => migrate(store, tables)));
      assert.equal(done.filter(({ statements }) => statements.length > 0).length, 1);
      await Promise.all(stores.map((store) => store.database.close()));
    }));

  const losses: readonly (readonly [fact: string, declaration: object, line: RegExp])[] = [
    [
      "a field that is renamed without its first name",
      { fields: { other: text({ default: "" }) } },
      /field other: the column notes\.title no longer has a field; if the field was renamed, declare was: "title", .*--keep notes\.title, or --drop notes\.title to delete its values$/,
    ],
    [
      "a field of another kind",
      { fields: { title: integer() } },
      /resource note, field title: .*text, not integer/,
    ],
    [
      "a required field without a default",
      changed({ body: text() }),
      /resource note, field body: .*declare fill or a default, or make the field optional/,
    ],
    [
      "a required reference",
      changed({ owner: belongsTo(() => owner) }),
      /resource note, field owner.*: .*declare fill or a default, or make the field optional/,
    ],
  ];
  for (const [fact, declaration, line] of losses) {
    test(`${fact} is refused with one line, and nothing is changed`, () =>
      withChanging(true, async (changing) => {
        for (const isDryRun of [true, false]) {
          await assert.rejects(changing.migrate(declaration, isDryRun), (error) => {
            assert.ok(error instanceof OperatorError, String(error));
            assert.match(error.message, line);
            assert.doesNotMatch(error.message, /\n/);
            return true;
          });
        }
        assert.equal((await changing.row(first))["title"], "Old");
        assert.deepEqual(await changing.migrate(first), []);
      }));
  }

  test("a field that becomes required without fill waits for the contraction, and is refused while a row lacks it", () =>
    withChanging(true, async (changing) => {
      const optional = { ...first, fields: { title: text({ max: 100, optional: true }) } };
      await changing.migrate(optional);
      await assert.rejects(
        changing.migrate(first),
        /field title: existing rows may have no value, .* declare fill/,
      );
      const id = newId("note");
      await changing.insert("note", { title: null }, id, optional);
      await assert.rejects(changing.change(first, { isContraction: true }), /declare fill/);
      await changing.store.database.run(`delete from notes where id = '${id}'`);
      await changing.change(first, { isContraction: true });
      assert.deepEqual(await changing.migrate(first), []);
      await assert.rejects(changing.insert("note", { title: null }, id, first));
    }));

  test("the column of a removed field stays, and holds up no insert", () =>
    withChanging(true, async (changing) => {
      const grown = changed({
        body: text({ max: 50, default: "" }),
        owner: belongsTo(() => owner, { optional: true }),
      });
      await changing.migrate(grown);
      const removed = { fields: { count: integer({ default: 0 }) } };
      await changing.migrate(removed);
      assert.deepEqual(await changing.migrate(removed), []);
      const id = newId("note");
      await changing.insert("note", { count: 2 }, id, removed);
      const { title: added, body, ownerId } = await changing.row(grown, id);
      assert.deepEqual([added, body, ownerId], [null, "", null]);
      assert.equal((await changing.row(grown))["title"], "Old");
    }));

  test("a table that is recreated without a reference keeps the defaults that earlier versions need", () =>
    withChanging(true, async (changing) => {
      const pages = { pages: integer({ default: 3 }), mark: text({ default: "it's new" }) };
      await changing.migrate(changed(pages));
      await changing.migrate(changed({ ...pages, owner: belongsTo(() => owner, { optional: true }) }));
      const drops = [{ name: "notes.owner", table: "notes", column: "owner" }];
      await changing.change(changed(pages), { drops });
      const id = newId("note");
      await changing.insert("note", { title: "Of an earlier version" }, id, first);
      for (const each of [id, changing.id]) {
        const row = await changing.row(changed(pages), each);
        assert.deepEqual([row["pages"], row["mark"]], [3, "it's new"]);
      }
      assert.deepEqual(await changing.migrate(changed(pages)), []);
    }));

  test("a reference is added without copying the rows", () =>
    withChanging(true, async (changing) => {
      const declaration = changed({
        owner: belongsTo(() => owner, { optional: true }),
        second: belongsTo(() => owner, { optional: true }),
        pages: integer({ default: 3 }),
      });
      const statements = await changing.migrate(declaration);
      assert.deepEqual(
        statements.filter((text) => /insert into|drop table/i.test(text)),
        [],
      );
      assert.deepEqual(await changing.migrate(declaration), []);
      for (const lost of ["ownerId", "secondId"])
        await assert.rejects(
          changing.insert(
            "note",
            { title: "Lost", pages: 1, [lost]: newId("owner") },
            newId("note"),
            declaration,
          ),
          ConstraintError,
        );
      await changing.insert("note", { title: "Of an earlier version" }, newId("note"), first);
    }));

  test("a failed migration leaves the schema protected and as it was", () =>
    withChanging(true, async (changing) => {
      await changing.insert("note", { title: "Old" }, newId("note"), first);
      const declaration = {
        fields: {
          title: text({ max: 100, unique: true }),
          owner: belongsTo(() => owner, { optional: true }),
        },
      };
      await assert.rejects(changing.migrate(declaration), OperatorError);
      if (database === "sqlite")
        await assert.rejects(
          changing.store.database.run("update sqlite_schema set sql = sql where name = 'notes'"),
          /may not be modified/,
        );
      await changing.insert("note", { title: "Later" }, newId("note"), first);
    }));

  test("the column of a removed field is kept when a reference is added", () =>
    withChanging(true, async (changing) => {
      const grown = changed({
        owner: belongsTo(() => owner, { optional: true }),
        pages: integer({ optional: true }),
      });
      await changing.migrate(grown);
      await changing.insert("owner", { title: "Ada" }, "owner_1", grown);
      await changing.insert("note", { title: "Kept", ownerId: "owner_1", pages: 7 }, newId("note"), grown);
      const references = { fields: { second: belongsTo(() => owner, { optional: true }) } };
      await changing.change(references, { kept: ["notes.owner"] });
      const rows = await changing.store.database.query(
        { sql: "select title, owner_id, pages from notes order by id", bind: () => [] },
        undefined,
      );
      assert.deepEqual(
        rows.map((row) => [...row].map(String)),
        [
          ["Old", "null", "null"],
          ["Kept", "owner_1", "7"],
        ],
      );
    }));

  test("a field whose column was dropped by hand is no longer reported", () =>
    withChanging(true, async (changing) => {
      const grown = changed({ body: text({ default: "" }) });
      await changing.migrate(grown);
      await changing.store.database.run("alter table notes drop column body");
      assert.deepEqual(await changing.migrate(first), []);
      assert.equal((await changing.row(first))["title"], "Old");
    }));

  test("duplicate values of a field that becomes unique stop the migration with one line", () =>
    withChanging(true, async (changing) => {
      await changing.insert("note", { title: "Old" }, newId("note"), first);
      const unique = { ...first, fields: { title: text({ max: 100, unique: true }) } };
      await assert.rejects(changing.migrate(unique), (error) => {
        assert.ok(error instanceof OperatorError, String(error));
        assert.match(error.message, /title/);
        return true;
      });
      assert.deepEqual(await changing.migrate(first), []);
    }));
});

onEachDatabase("a database with tables of other applications", (database) => {
  let workspace: Workspace;
  let store: Store;
  before(async () => {
    workspace = await makeWorkspace(database);
    store = await openStore(workspace.databaseUrl);
  });
  after(async () => {
    await store.database.close();
    await workspace.remove();
  });

  test("tables and indexes that Portico did not create are not changed", async () => {
    await store.database.run("create table ledger (id integer primary key, amount integer)");
    await migrate(store, tablesOf(modelOf(first), []));
    await store.database.run("create index notes_by_hand on notes (created_at)");
    assert.deepEqual((await migrate(store, tablesOf(modelOf(first), []))).statements, []);
    await store.database.run("insert into ledger (id, amount) values (1, 2)");
    await store.database.run("drop index notes_by_hand");
  });
});
