// Many rows with one statement, whatever their number: they are bound as one JSON text.

import { type RawBuilder, sql } from "kysely";
import type { Statement } from "./database.ts";
import type { Dialect } from "./dialect.ts";
import type { Column } from "./schema.ts";
import { compile, slot } from "./statement.ts";

/** A row by the names of its columns. */
export type ColumnRow = Readonly<Record<string, string | number | null>>;

/** A list of rows as a subquery. */
export function boundRows(dialect: Dialect, columns: readonly Column[]): RawBuilder<unknown> {
  const text = slot((rows: readonly ColumnRow[]) => JSON.stringify(rows));
  return dialect.rowsOf(columns, text);
}

/** @param onConflict what to do about rows that are there already: `on conflict ...` */
export function compileInsertRows(
  dialect: Dialect,
  table: string,
  columns: readonly Column[],
  onConflict: RawBuilder<unknown> = sql``,
): Statement<readonly ColumnRow[]> {
  const names = sql.join(columns.map(({ name }) => sql.ref(name)));
  // Without the condition SQLite would take `on conflict` for that of a join.
  return compile(
    dialect.builder,
    sql`insert into ${sql.table(table)} (${names})
      select ${names} from ${boundRows(dialect, columns)} as n where true ${onConflict}`,
  );
}
