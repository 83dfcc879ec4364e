// Writes any number of rows. PostgreSQL gets one statement, bound to one JSON text. SQLite runs a prepared statement for
// each row, which takes a quarter of the time that reading the same rows from JSON takes.

import { type RawBuilder, sql } from "kysely";
import type { Session, Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import type { QueryStore } from "../own-tables/query.ts";
import type { Column, ColumnType } from "../schema/table.ts";
import { compile, parameter } from "../statement.ts";

type ColumnOfRows = Pick<Column, "name" | "type">;

/** The values of a row by column name; the tenant by its id. */
export type ColumnRow = Readonly<Record<string, string | number | null>>;

/** Columns by name. `rowColumns({ id: "text" })` */
export function rowColumns(types: Readonly<Record<string, ColumnType>>): readonly ColumnOfRows[] {
  return Object.entries(types).map(([name, type]) => ({ name, type }));
}

/** Writes rows in the transaction of `session`. */
export type WriteRows = (session: Session, rows: readonly ColumnRow[]) => Promise<void>;

/**
 * Compiles a write that takes its rows from a subquery.
 *
 * @param build builds the statement around the subquery: `` (rows) => sql`insert into t (a) select a from ${rows} as n` ``
 */
export function compileManyRows(
  { dialect, tenants }: QueryStore,
  columns: readonly ColumnOfRows[],
  build: (rows: RawBuilder<unknown>) => RawBuilder<unknown>,
): WriteRows {
  const write = compileStored(dialect, columns, build);
  if (!columns.some(({ type }) => type === "tenant")) return write;
  return async (session, rows) => {
    // A row has one tenant, by its id.
    const ids = new Set(rows.map((row) => row["tenant_no"] as string));
    for (const id of ids) if (tenants.numberOf(id) === undefined) await tenants.findNumber(session, id);
    const numberOf = (row: ColumnRow): number | null => tenants.boundNumberOf(row["tenant_no"] as string);
    await write(
      session,
      rows.map((row) => ({ ...row, tenant_no: numberOf(row) })),
    );
  };
}

/** The same for rows with the numbers of their tenants. */
function compileStored(
  dialect: Dialect,
  columns: readonly ColumnOfRows[],
  build: (rows: RawBuilder<unknown>) => RawBuilder<unknown>,
): WriteRows {
  if (dialect.name === "postgres") {
    const together: Statement<readonly ColumnRow[]> = compile(
      dialect.builder,
      build(fromJson(dialect, columns)),
    );
    return async (session, rows) => {
      await session.query(together, rows);
    };
  }
  const values = columns.map(
    ({ name }) => sql`${parameter((row: ColumnRow) => row[name])} as ${sql.ref(name)}`,
  );
  const one: Statement<ColumnRow> = compile(dialect.builder, build(sql`(select ${sql.join(values)})`));
  return async (session, rows) => {
    for (const row of rows) await session.query(one, row);
  };
}

function fromJson({ columnType }: Dialect, columns: readonly ColumnOfRows[]): RawBuilder<unknown> {
  const text = parameter((rows: readonly ColumnRow[]) => JSON.stringify(rows));
  const types = columns.map(({ name, type }) => sql`${sql.ref(name)} ${sql.raw(columnType[type])}`);
  return sql`(select * from json_to_recordset(${text}::json) as r (${sql.join(types)}))`;
}

/**
 * Rows of a tenant that was deleted meanwhile are left out.
 * @param onConflict what to do with rows that exist already: `on conflict ...`
 */
export function compileInsertRows(
  store: QueryStore,
  table: string,
  columns: readonly ColumnOfRows[],
  onConflict: RawBuilder<unknown> = sql``,
): WriteRows {
  const names = sql.join(columns.map(({ name }) => sql.ref(name)));
  // Without `where`, SQLite would parse `on` as the constraint of a join.
  const isWanted = columns.some(({ type }) => type === "tenant")
    ? sql`n.tenant_no in (select no from tenants)`
    : sql`true`;
  return compileManyRows(
    store,
    columns,
    (rows) =>
      sql`insert into ${sql.table(table)} (${names}) select ${names} from ${rows} as n where ${isWanted} ${onConflict}`,
  );
}
