// The order in which a table has its rows, on SQLite. Rows are numbered as they are inserted (`row_no`), so they are nearly
// in the order of `created_at`: a clock that is set back, or a second process, can put a row after newer ones. A table has
// the largest disorder: no row of a resource was created more than this number of milliseconds before a row with a lower
// number. The database itself keeps this true, with triggers, so that a search may rely on it.
//
// The record has a row for each searched table: the latest `created_at` at the last disorder, and the largest disorder.

import { type RawBuilder, sql } from "kysely";
import { identifier, indexPrefix } from "../schema/index-names.ts";
import { searchOrderTable } from "../schema/table.ts";

/** The disorder of a table whose rows may be in any order: about 30,000 years. */
const unordered = 1_000_000_000_000_000;

/** The name of the trigger on inserted rows. It does not depend on what is searched. */
export function orderTriggerName(table: string): string {
  return identifier(`${indexPrefix}${table}_creation_order`);
}

/** Computes the disorder of the present rows, and records it from now on. */
export function recordCreationOrder(table: string): RawBuilder<unknown>[] {
  const order = sql.table(searchOrderTable);
  const rows = sql.table(table);
  const name = orderTriggerName(table);
  const isOfTable = sql`table_name = ${sql.lit(table)}`;
  // A new row has the highest number, unless it is a restored one, which has the number that it had, or somebody numbers it
  // by hand. Between two rows that were created before and after it, it adds no disorder.
  const isNumberedBetween = sql`new.row_no < (select max(row_no) from ${rows})`;
  const next = sql`(select created_at from ${rows} where row_no > new.row_no order by row_no limit 1)`;
  const previous = sql`coalesce((select created_at from ${rows} where row_no < new.row_no order by row_no desc limit 1), '')`;
  // The previous row is the newest one, unless there was disorder before it.
  const isLate = sql`new.created_at < max(${previous}, (select newest from ${order} where ${isOfTable}))`;
  const isOutOfOrder = sql`case when ${isNumberedBetween} then new.created_at < ${previous} or new.created_at > ${next} else ${isLate} end`;
  const newest = sql`max(newest, ${previous})`;
  const disorder = sql`case when ${isNumberedBetween} then ${sql.lit(unordered)} else ${milliseconds(newest, sql`new.created_at`)} end`;
  return [
    sql`create table if not exists ${order} (table_name text primary key, newest text not null, disorder integer not null) without rowid`,
    sql`insert or replace into ${order} (table_name, newest, disorder) select ${sql.lit(table)}, coalesce(max(newest), ''), coalesce(max(case when created_at < newest then ${milliseconds(sql`newest`, sql`created_at`)} end), 0) from (select created_at, max(created_at) over (order by row_no) as newest from ${rows})`,
    sql`create trigger ${sql.ref(name)} after insert on ${rows} when ${isOutOfOrder} begin update ${order} set newest = ${newest}, disorder = max(disorder, ${disorder}) where ${isOfTable}; end`,
    sql`create trigger ${sql.ref(`${name}_update`)} after update of row_no, created_at on ${rows} when old.row_no <> new.row_no or old.created_at <> new.created_at begin update ${order} set disorder = ${sql.lit(unordered)} where ${isOfTable}; end`,
  ];
}

/** The largest disorder of a table, in milliseconds; null if it is not recorded. */
export function disorderOf(table: string): RawBuilder<unknown> {
  return sql`(select disorder from ${sql.table(searchOrderTable)} where table_name = ${sql.lit(table)})`;
}

/** The milliseconds from the earlier time to the later one, rounded up. Times in an unknown format are in any order. */
function milliseconds(later: RawBuilder<unknown>, earlier: RawBuilder<unknown>): RawBuilder<unknown> {
  const seconds = sql`unixepoch(${later}, 'subsec') - unixepoch(${earlier}, 'subsec')`;
  return sql`coalesce(max(cast((${seconds}) * 1000 as integer) + 1, 1), ${sql.lit(unordered)})`;
}
