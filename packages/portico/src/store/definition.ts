// Columns, indexes and references as they stand in statements that make or alter tables.

import { type RawBuilder, sql } from "kysely";
import type { Column, ForeignKey, Index, Table } from "./schema.ts";
import type { TableDialect } from "./tables.ts";

/** `create index`, with nulls counted as smallest where PostgreSQL must be told. */
export function createIndex(dialect: TableDialect, table: Table, index: Index): RawBuilder<unknown> {
  const columns = index.columns.map((column) =>
    column.isNullable ? sql`${sql.ref(column.name)}${dialect.nullsFirst}` : sql.ref(column.name),
  );
  return sql`create ${sql.raw(index.isUnique ? "unique " : "")}index ${sql.ref(index.name)} on ${sql.table(table.name)} (${sql.join(columns)})`;
}

/** A column as it stands in `create table`. */
export function columnDefinition(typeName: string, column: Column): RawBuilder<unknown> {
  return sql`${sql.ref(column.name)} ${sql.raw(typeName)}${sql.raw(column.isNullable ? "" : " not null")}`;
}

/** A reference within the tenant: a row cannot refer to another tenant's, whatever the code above does. */
export function foreignKeyDefinition({ column, table, onDelete }: ForeignKey): RawBuilder<unknown> {
  return sql`foreign key (tenant_id, ${sql.ref(column)}) references ${sql.table(table)} (tenant_id, id) on delete ${sql.raw(onDelete)}`;
}
