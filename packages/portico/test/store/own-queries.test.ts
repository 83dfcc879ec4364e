// Queries on the server's own tables: rows by name, with the same types on both databases.

import assert from "node:assert/strict";
import { test } from "node:test";
import { boolean, computedStatus, json, list, text, timestamp } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import type { Session } from "../../src/store/database.ts";
import { openStore } from "../../src/store/open.ts";
import { defineQuery, type ParametersOf } from "../../src/store/own-tables/query.ts";
import { ownTable } from "../../src/store/own-tables/table.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { sqliteDialect } from "../../src/store/sqlite/dialect.ts";
import { Tenants } from "../../src/store/tenants.ts";
import { makeWorkspace, onEachDatabase } from "../support/server.ts";

interface Sample {
  readonly title: string;
  readonly count: number;
  readonly ratio: number;
  readonly isOpen: boolean;
  readonly detail: string;
  readonly at: string;
  readonly note: string | null;
}

const samples = ownTable(
  "samples",
  {
    sequence: "sequence",
    title: "text",
    count: "integer",
    ratio: "number",
    is_open: "boolean",
    is_known: "boolean?",
    detail: "json",
    at: "timestamp",
    ended_at: "timestamp?",
    note: "text?",
  },
  { primaryKey: ["sequence"], indexes: [{ columns: ["title", "note"], isUnique: true }] },
);

const insertSample = defineQuery([samples], (db, input: ParametersOf<Sample>) =>
  db
    .insertInto("samples")
    .values({
      title: input.title,
      count: input.count,
      ratio: input.ratio,
      is_open: input.isOpen,
      detail: input.detail,
      at: input.at,
      note: input.note,
    })
    .returning(["sequence", "is_open"]),
);

const selectSample = defineQuery([samples], (db, input: ParametersOf<{ title: string }>) =>
  db
    .selectFrom("samples as s")
    .select([
      "s.sequence",
      "title",
      "count",
      "ratio",
      "is_open as isOpen",
      "is_known",
      "detail",
      "at",
      "ended_at",
      "note",
    ])
    .where("s.title", "=", input.title),
);

const sumCounts = defineQuery([samples], (db) =>
  db
    .selectFrom("samples")
    .select(({ fn }) => [
      fn.sum<number>("count").as("sum"),
      fn.countAll<number>().as("rows"),
      fn.max("at").as("latest"),
    ]),
);

const closeSample = defineQuery([samples], (db, input: ParametersOf<{ title: string; isOpen: boolean }>) =>
  db
    .updateTable("samples")
    .set({ is_open: input.isOpen })
    .where("title", "=", input.title)
    .returning(["is_open"]),
);

const sample: Sample = {
  title: "one",
  count: 9_007_199_254_740_990,
  ratio: 0.5,
  isOpen: true,
  detail: '{"b":1,"a":[true]}',
  at: "2026-11-21T09:30:00.000Z",
  note: null,
};

onEachDatabase("own queries", (database) => {
  test("a row has its columns by name, with the declared types", async () => {
    const { databaseUrl } = await makeWorkspace(database);
    const store = await openStore(databaseUrl);
    await migrate(store, [samples]);
    const inserted = await store.transaction((session) => insertSample(store).first(session, sample));
    assert.deepEqual(inserted, { sequence: 1, is_open: true });
    assert.deepEqual(await selectSample(store).first(store.database, { title: "one" }), {
      ...sample,
      sequence: 1,
      is_known: null,
      ended_at: null,
    });
    assert.equal(await selectSample(store).first(store.database, { title: "two" }), undefined);
    await store.transaction((session) =>
      insertSample(store).run(session, { ...sample, title: "two", count: 1, at: "2026-11-21T09:30:00.120Z" }),
    );
    const closed = await store.transaction((session) =>
      closeSample(store).all(session, { title: "two", isOpen: false }),
    );
    assert.deepEqual(closed, [{ is_open: false }]);
    assert.equal(
      (await selectSample(store).first(store.database, { title: "two" }))!.at,
      "2026-11-21T09:30:00.120Z",
    );
    const [row] = await sumCounts(store).all(store.database);
    assert.deepEqual(row, { sum: 9_007_199_254_740_991, rows: 2, latest: "2026-11-21T09:30:00.120Z" });
    await store.database.close();
  });
});

test("the rows of a resource have the columns of its table", async () => {
  const reports = resource("sampleReport", {
    fields: {
      title: text(),
      isDraft: boolean({ default: true }),
      tags: list(text(), { default: [] }),
      extra: json({ optional: true }),
      endsAt: timestamp({ optional: true }),
      status: computedStatus("open", [{ status: "ended", from: "endsAt" }]),
    },
  });
  const select = defineQuery([reports], (db, input: ParametersOf<{ id: string }>) =>
    db
      .selectFrom("sample_reports")
      .select(["tenant_no", "is_draft", "tags", "extra", "ends_at"])
      .where("id", "=", input.id),
  );
  const queries: string[] = [];
  const session: Session = {
    async query({ sql }) {
      queries.push(sql.slice(0, sql.indexOf(" from ")));
      return sql.includes("tenants") ? [[7, "tenant_7"]] : [[7, 0, "[]", null, null]];
    },
  };
  const sqlite = { dialect: sqliteDialect, tenants: new Tenants(sqliteDialect, session) };
  for (let times = 0; times < 2; times += 1)
    assert.deepEqual(await select(sqlite).first(session, { id: "1" }), {
      tenant_no: "tenant_7",
      is_draft: false,
      tags: "[]",
      extra: null,
      ends_at: null,
    });
  const row = 'select "tenant_no", "is_draft", "tags", "extra", "ends_at"';
  assert.deepEqual(queries, [row, "select no, id", row], "a tenant is read once");
  assert.deepEqual(select(sqlite).statement.bind({ id: "1" }), ["1"]);
  assert.equal(select(sqlite), select(sqlite), "a query is compiled once");
});

test("a query that does not name its columns is refused when it is compiled", () => {
  const selectAll = defineQuery([samples], (db) => db.selectFrom("samples").selectAll());
  const tenants = new Tenants(sqliteDialect, { query: async () => [] });
  assert.throws(() => selectAll({ dialect: sqliteDialect, tenants }), /names each column/);
});
