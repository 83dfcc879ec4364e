// The definitions of tables and columns in the SQL of SQLite. Each table has an integer primary key besides its id: rows
// are stored in its order, and the search index refers to it.

import { type RawBuilder, sql } from "kysely";
import { parseDecimal } from "../../lib/decimal.ts";
import { columnDefinition, defaultOf, foreignKeyDefinition } from "../schema/definition.ts";
import type { Column, ForeignKey, Table } from "../schema/table.ts";
import type { ExistingTable } from "../schema/tables.ts";
import { compile } from "../statement.ts";
import { storedUpdatedAt, updatedAtColumn, writtenColumn } from "../update-time.ts";
import { sqliteDialect } from "./dialect.ts";

export const rowNumber = "row_no";

function definition(column: Column): RawBuilder<unknown> {
  return columnDefinition(sqliteDialect.columnType[column.type], column);
}

/** The definitions of a stored `updated_at`, and of one that is computed (`store/update-time.ts`). */
export const updatedAtDefinitions = {
  stored: `"${updatedAtColumn}" ${sqliteDialect.columnType.timestamp} not null`,
  computed: `"${storedUpdatedAt}" ${sqliteDialect.columnType.timestamp}, "${updatedAtColumn}" ${sqliteDialect.columnType.timestamp} not null generated always as (coalesce("${storedUpdatedAt}", "created_at")) virtual`,
} as const;

/** The column of a table in which a column is stored. */
export function storedColumn({ resource }: Table, column: string): string {
  return resource ? writtenColumn("sqlite", resource, column) : column;
}

/**
 * @param added columns that processes of the previous version do not fill
 * @param existing the table that it replaces
 */
export function createTable(
  table: Table,
  name: string,
  added: readonly Column[] = [],
  existing?: ExistingTable,
): RawBuilder<unknown> {
  const ownNumber = table.columns.find((column) => column.type === "sequence");
  const lines = [
    ...(ownNumber || table.isOrderedByKey ? [] : [sql`${sql.ref(rowNumber)} integer primary key`]),
    ...table.columns.map((column) => {
      if (column === ownNumber) return sql`${sql.ref(column.name)} integer primary key autoincrement`;
      if (storedColumn(table, column.name) !== column.name) return sql.raw(updatedAtDefinitions.computed);
      return sql`${definition(column)}${column.hasDefault || added.includes(column) ? defaultOf(column, encodeFill) : defaultIn(existing, column)}`;
    }),
    ...(ownNumber
      ? []
      : [
          sql`${sql.raw(table.isOrderedByKey ? "primary key" : "unique")} (${sql.join(table.primaryKey.map((each) => sql.ref(each)))})`,
        ]),
    ...table.foreignKeys.map(foreignKeyDefinition),
  ];
  return sql`create table ${sql.table(name)} (${sql.join(lines)})${sql.raw(table.isOrderedByKey ? " without rowid" : "")}`;
}

/** Earlier versions insert rows without the columns that were added since, so the defaults of those stay. */
function defaultIn(existing: ExistingTable | undefined, { name }: Column): RawBuilder<unknown> {
  const text = existing?.columns.get(name)?.defaultText;
  return text === undefined ? sql`` : sql` default ${sql.raw(text)}`;
}

export function addColumn(table: Table, column: Column): RawBuilder<unknown>[] {
  const add = sql`alter table ${sql.table(table.name)} add column `;
  if (column.isNullable || column.defaultValue !== undefined)
    return [sql`${add}${definition(column)}${defaultOf(column, encodeFill)}`];
  // The table is empty, but SQLite still refuses to add a `not null` column without a default.
  return [
    sql`${add}${definition({ ...column, isNullable: true })}`,
    sql`alter table ${sql.table(table.name)} alter column ${sql.ref(column.name)} set not null`,
  ];
}

/** The value of a column without one, as a literal has it. */
export function encodeFill({ type, defaultValue }: Column): string | number | bigint {
  const scale = /^decimal_(\d+)$/.exec(type)?.[1];
  // The declaration is validated, so that the default of a decimal is one.
  if (scale !== undefined) return parseDecimal(String(defaultValue), Number(scale))!;
  // Called for columns with a default only.
  return typeof defaultValue === "boolean" ? Number(defaultValue) : defaultValue!;
}

/**
 * SQLite has no statement that adds a foreign key. Its documentation names this way for constraints: to append it to the
 * text of `create table`. No row is read, because the added columns refer to nothing.
 * https://www.sqlite.org/lang_altertable.html#otheralter
 */
export function addReferences(table: Table, references: readonly ForeignKey[]): RawBuilder<unknown>[] {
  const lines = references.map(
    (each) => `, ${compile(sqliteDialect.builder, foreignKeyDefinition(each)).sql}`,
  );
  return [
    sql`pragma writable_schema = on`,
    sql`update sqlite_schema set sql = substr(sql, 1, length(sql) - 1) || ${sql.lit(`${lines.join("")})`)} where type = 'table' and name = ${sql.lit(table.name)}`,
    // Reads the schema again, and fails if it cannot be parsed.
    sql`pragma writable_schema = reset`,
  ];
}
