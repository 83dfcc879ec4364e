// Columns, indexes and foreign keys in the SQL of `create` and `alter` statements.

import { type RawBuilder, sql } from "kysely";
import { choiceRank } from "../choice-rank.ts";
import type { Column, ForeignKey, Index, Table } from "./table.ts";
import type { TableDialect } from "./tables.ts";

/**
 * `create index`. Nulls count as smallest, also on PostgreSQL.
 *
 * @param modifier `concurrently`, for a table that is in use
 */
export function createIndex(
  dialect: Pick<TableDialect, "nullsFirst" | "nullsLast">,
  table: Table,
  index: Index,
  modifier: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  const columns = index.columns.map(({ name, isNullable, isDescending, ranked }) => {
    const value = ranked ? choiceRank(sql.ref(name), ranked) : sql.ref(name);
    const direction = isDescending ? sql` desc` : sql``;
    const nulls = isDescending ? dialect.nullsLast : dialect.nullsFirst;
    return sql`${value}${direction}${isNullable ? nulls : sql``}`;
  });
  const where = index.where === undefined ? sql`` : sql` where ${sql.raw(index.where)}`;
  return sql`create ${sql.raw(index.isUnique ? "unique " : "")}index ${modifier}${sql.ref(index.name)} on ${sql.table(table.name)} (${sql.join(columns)})${where}`;
}

/** A column of `create table`. */
export function columnDefinition(typeName: string, column: Column): RawBuilder<unknown> {
  return sql`${sql.ref(column.name)} ${sql.raw(typeName)}${sql.raw(column.isNullable ? "" : " not null")}`;
}

/**
 * The default of an added column, for existing rows. It stays in the schema, because processes of the previous version
 * insert rows without the column.
 */
export function defaultOf(
  column: Column,
  encode: (column: Column) => unknown = ({ defaultValue }) => defaultValue,
): RawBuilder<unknown> {
  return column.defaultValue === undefined ? sql`` : sql` default ${sql.lit(encode(column))}`;
}

/** A foreign key that includes the tenant: the database refuses a reference to a row of another tenant. */
export function foreignKeyDefinition({ column, table, onDelete }: ForeignKey): RawBuilder<unknown> {
  return sql`foreign key (tenant_no, ${sql.ref(column)}) references ${sql.table(table)} (tenant_no, id) on delete ${sql.raw(onDelete)}`;
}
