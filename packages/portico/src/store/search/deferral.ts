// Indexing rows together, on SQLite. A trigger indexes each inserted row. Before every statement that can fail after it has
// written, SQLite sets a savepoint, at which its search index writes what it holds in memory: a segment for each row, to be
// merged later. A transaction that inserts many rows therefore defers the triggers, and indexes its rows with one
// statement before it ends.

import { sql } from "kysely";
import { deferralTable, searchTable } from "../schema/table.ts";
import { sqliteDialect } from "../sqlite/dialect.ts";
import { compile } from "../statement.ts";
import { taggedText } from "./index-terms.ts";

/** The table has a row while a transaction defers the triggers, and none after it. */
export const createDeferral = `create table if not exists "${deferralTable}" (is_deferred integer primary key)`;
export const deferTriggers = `insert into "${deferralTable}" values (1)`;
export const resumeTriggers = `delete from "${deferralTable}"`;

/** The condition under which the trigger of an insert indexes its row. */
export const conditionOfTrigger = `not exists (select 1 from "${deferralTable}")`;

/** Indexes the rows whose numbers are bound as a JSON list. */
export function indexRows(table: string): string {
  const rows = sql`select row_no, ${taggedText()} from ${sql.table(table)}
    where row_no in (select value from json_each(${sql.raw("?")}))`;
  const query = sql`insert or replace into ${sql.table(searchTable(table))} (rowid, words) ${rows}`;
  return compile(sqliteDialect.builder, query).sql;
}
