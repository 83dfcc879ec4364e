// Indexing rows together, on SQLite. A trigger indexes each inserted row. Before every statement that can fail after it has
// written, SQLite sets a savepoint, at which its search index writes what it holds in memory: a segment for each row, to be
// merged later. A transaction that may insert several rows therefore defers the triggers of their tables, and indexes the
// rows of each table with one statement.

import { sql } from "kysely";
import { deferralTable, searchTable } from "../schema/table.ts";
import { sqliteDialect } from "../sqlite/dialect.ts";
import { compile } from "../statement.ts";
import { taggedText } from "./index-terms.ts";

/** It has the names of the tables whose triggers a transaction defers, and no row outside that transaction. */
export const createDeferral = `create table if not exists "${deferralTable}" (table_name text primary key) without rowid`;
export const deferTrigger = `insert or ignore into "${deferralTable}" values (?)`;
export const resumeTriggers = `delete from "${deferralTable}"`;

/** The condition under which the trigger of an insert indexes its row. */
export function conditionOfTrigger(table: string): string {
  const isOfTable = compile(sqliteDialect.builder, sql`table_name = ${sql.lit(table)}`).sql;
  return `not exists (select 1 from "${deferralTable}" where ${isOfTable})`;
}

/** The number of the newest row, 0 if there is none. */
export function newestRow(table: string): string {
  return compile(sqliteDialect.builder, sql`select coalesce(max(row_no), 0) from ${sql.table(table)}`).sql;
}

/** Indexes the rows with higher numbers than the one that is bound. */
export function indexRows(table: string): string {
  const rows = sql`select row_no, ${taggedText()} from ${sql.table(table)} where row_no > ${sql.raw("?")}`;
  const query = sql`insert or replace into ${sql.table(searchTable(table))} (rowid, words) ${rows}`;
  return compile(sqliteDialect.builder, query).sql;
}
