// Columns, indexes and references as they stand in statements that make or alter tables.

import { type RawBuilder, sql } from "kysely";
import type { Column, ForeignKey, Index, Table } from "./ddl.ts";
import type { TableDialect } from "./tables.ts";

/**
 * `create index`, with nulls counted as smallest where PostgreSQL must be told.
 *
 * @param way how, on a table that is in use: `concurrently`
 */
export function createIndex(
  dialect: Pick<TableDialect, "nullsFirst">,
  table: Table,
  index: Index,
  way: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  const columns = index.columns.map((column) =>
    column.isNullable ? sql`${sql.ref(column.name)}${dialect.nullsFirst}` : sql.ref(column.name),
  );
  return sql`create ${sql.raw(index.isUnique ? "unique " : "")}index ${way}${sql.ref(index.name)} on ${sql.table(table.name)} (${sql.join(columns)})`;
}

/** A column as it stands in `create table`. */
export function columnDefinition(typeName: string, column: Column): RawBuilder<unknown> {
  return sql`${sql.ref(column.name)} ${sql.raw(typeName)}${sql.raw(column.isNullable ? "" : " not null")}`;
}

/**
 * The default of a column that is added, for the rows that stand already. It stays: processes of the version before
 * go on to add rows, and do not know the column.
 */
export function defaultOf(
  { defaultValue }: Column,
  encode: (fill: Fill) => Fill = (value) => value,
): RawBuilder<unknown> {
  return defaultValue === undefined ? sql`` : sql` default ${sql.lit(encode(defaultValue))}`;
}

type Fill = NonNullable<Column["defaultValue"]>;

/** A reference within the tenant: a row cannot refer to another tenant's, whatever the code above does. */
export function foreignKeyDefinition({ column, table, onDelete }: ForeignKey): RawBuilder<unknown> {
  return sql`foreign key (tenant_id, ${sql.ref(column)}) references ${sql.table(table)} (tenant_id, id) on delete ${sql.raw(onDelete)}`;
}
