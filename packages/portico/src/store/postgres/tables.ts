// Tables in PostgreSQL.

import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { columnDefinition, createIndex, foreignKeyDefinition } from "../definition.ts";
import { type Column, type ColumnType, indexPrefix, searchColumn, type Table } from "../schema.ts";
import { FoundTable, type TableDialect } from "../tables.ts";
import { postgresDialect } from "./dialect.ts";

/** Any number: the key of the advisory lock under which migrations run. */
const migrationLock = 7_016_400;

const typeNames: Readonly<Record<string, ColumnType>> = {
  text: "text",
  bigint: "integer",
  "double precision": "number",
  boolean: "boolean",
  "timestamp with time zone": "timestamp",
  json: "json",
};

/** How `schema.ts` names search indexes. */
const searchName = new RegExp(`^${indexPrefix}.*_search_[0-9a-f]{8}$`);

export const postgresTables: TableDialect = {
  before: [],
  after: [],
  nullsFirst: sql` nulls first`,

  async lock(session) {
    await rows(session, `select pg_advisory_xact_lock(${migrationLock})`);
    // An index of a large table takes longer than any request may.
    await rows(session, "set local statement_timeout = 0");
  },

  async existing(session) {
    const tables = new Map<string, FoundTable>();
    const columns = await rows(
      session,
      `select c.table_name, c.column_name, case when c.is_identity = 'YES' then 'sequence' else c.data_type end, c.is_nullable
       from information_schema.columns c where c.table_schema = current_schema()`,
    );
    for (const [table, column, type, isNullable] of columns) {
      const found = tables.get(table!) ?? new FoundTable();
      found.columns.set(column!, { type: typeNames[type!] ?? type!, isNullable: isNullable === "YES" });
      tables.set(table!, found);
    }
    const indexes = await rows(
      session,
      "select tablename, indexname from pg_indexes where schemaname = current_schema()",
    );
    for (const [table, index] of indexes) {
      const found = tables.get(table!);
      (searchName.test(index!) ? found?.searches : found?.indexes)?.add(index!);
    }
    const references = await rows(
      session,
      `select f.conrelid::regclass::text, a.attname, f.confrelid::regclass::text
       from pg_constraint f join pg_attribute a on a.attrelid = f.conrelid and a.attnum = any(f.conkey)
       where f.contype = 'f' and f.connamespace = current_schema()::regnamespace and a.attname <> 'tenant_id'`,
    );
    for (const [table, column, target] of references) tables.get(table!)?.references.set(column!, target!);
    return tables;
  },

  create(table) {
    const lines = [
      ...table.columns.map((column) => columnDefinition(postgresDialect.columnType[column.type], column)),
      sql`primary key (${sql.join(table.primaryKey.map((name) => sql.ref(name)))})`,
    ];
    return [
      sql`create table ${sql.table(table.name)} (${sql.join(lines)})`,
      ...table.indexes.map((index) => createIndex(postgresTables, table, index)),
    ];
  },

  addColumns: (table, columns) => columns.flatMap((column) => addColumn(table, column)),

  addReferences(table, existing) {
    return table.foreignKeys
      .filter(({ column }) => !existing?.references.has(column))
      .map((foreignKey) => sql`alter table ${sql.table(table.name)} add ${foreignKeyDefinition(foreignKey)}`);
  },

  rebuild: () => undefined,

  createSearch(table) {
    const words = sql`array_to_tsvector(string_to_array(${sql.ref(searchColumn)}, ' '))`;
    return [
      sql`create index ${sql.ref(table.search!.index)} on ${sql.table(table.name)} using gin (${words})`,
    ];
  },

  dropSearch(_table, existing) {
    return [...existing.searches].map((name) => sql`drop index ${sql.ref(name)}`);
  },
};

/** The default only fills the rows that stand already; new ones bring every value. */
function addColumn(table: Table, column: Column): RawBuilder<unknown>[] {
  const definition = columnDefinition(postgresDialect.columnType[column.type], column);
  if (column.fill === undefined) return [sql`alter table ${sql.table(table.name)} add column ${definition}`];
  return [
    sql`alter table ${sql.table(table.name)} add column ${definition} default ${sql.lit(column.fill)}`,
    sql`alter table ${sql.table(table.name)} alter column ${sql.ref(column.name)} drop default`,
  ];
}

async function rows(session: Session, text: string): Promise<readonly (readonly string[])[]> {
  // Every column of these catalogue queries is a text.
  return (await session.query({ sql: text, bind: () => [] }, undefined)) as readonly (readonly string[])[];
}
