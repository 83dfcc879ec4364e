// The first rows of a search in the order of creation, on SQLite. The search index returns matches in the order of their row
// numbers, which is nearly that of their creation (`search/creation-order.ts`).

import { sql } from "kysely";
import type { Read } from "../../query/read.ts";
import type { Dialect } from "../dialect.ts";
import { searchTable } from "../schema/table.ts";
import { disorderOf } from "../search/creation-order.ts";
import { orderBy } from "./columns.ts";
import { conditionsOf } from "./condition.ts";
import { all, beyondPositionOnce, isReversed, positionValue } from "./index-ranges.ts";
import { type Expression, isOfTenant } from "./input.ts";
import { limitOf } from "./row-limit.ts";

import {
  type FoundRows,
  indexedWords,
  pageColumnsOf,
  type SearchAccess,
  table,
  wordChecks,
} from "./search-access.ts";

/** How many matches "created" looks up at most. */
const maxMatchesRead = 1_200;
/** How many rows more than the page needs are read, for those that were created at the same time or in disorder. */
const surplusRows = 30;

/**
 * With the disorder `d`, a row was created at most `d` milliseconds after any row with a higher number, and at most `d`
 * before any row with a lower one. Of rows read newest first, those created more than `d` after the last one read
 * therefore precede all that were not read, and likewise in ascending order.
 */
export function created(dialect: Dialect, read: Read, access: SearchAccess): FoundRows {
  const isDescending = isNewestFirst(read);
  const [direction, opposite, isBeyond, isShort] = (
    isDescending ? ["desc", "asc", ">", "+"] : ["asc", "desc", "<", "-"]
  ).map((text) => sql.raw(text));
  const index = sql.table(searchTable(read.resource.table));
  const limit = sql`${limitOf(dialect, read)} + ${sql.lit(surplusRows)}`;
  const matches = sql`select rowid as row_no from ${index} where ${index} match ${indexedWords(dialect)}${numbersBeyond(dialect, read)}
    order by rowid ${direction} limit ${sql.lit(maxMatchesRead)}`;
  const conditions = [
    isOfTenant("r"),
    ...conditionsOf(dialect, "r", read.conditions),
    beyondPositionOnce(dialect, read),
    ...wordChecks(dialect, read, access),
  ];
  // SQLite reads the rows in the order of the matches. With `order by` it would read all before the first.
  const found = sql`select r.row_no, r.created_at, r.id from (${matches}) as m cross join ${table(read)} as r on r.row_no = m.row_no
    where ${all(conditions)} limit ${limit}`;
  const isAll = (rows: Expression): Expression =>
    sql`case when (select count(*) from ${rows}) < ${limit} then (select count(*) from (${matches})) < ${sql.lit(maxMatchesRead)} else 0 end`;
  const last = sql`(select created_at from f order by row_no ${opposite} limit 1)`;
  const order = orderBy(dialect, "f", read.sort, isReversed(read));
  const page = sql`with f as materialized (${found}) select row_no from f
    where f.created_at ${isBeyond} ${shifted(last, isShort!, read)} or ${isAll(sql`f`)} order by ${order} limit ${limitOf(dialect, read)}`;
  return {
    rows: sql`(select ${pageColumnsOf(dialect, read, access)} from (${page}) as w cross join ${table(read)} as r on r.row_no = w.row_no) as r`,
    isComplete: (count) => {
      const isFull = count ? sql`when ${count} >= ${limitOf(dialect, read)} then 1 ` : sql``;
      return sql`case ${isFull}when ${isAll(sql`(${found})`)} then 1 else 0 end`;
    },
  };
}

/**
 * The condition that a match may be beyond the position of the page, by its number. A row created more than the disorder
 * before the position has a lower number than all rows beyond it, and likewise in descending order.
 */
function numbersBeyond(dialect: Dialect, read: Read): Expression {
  const { page } = read;
  if (page.style !== "cursor" || !page.position) return sql``;
  const value = positionValue(dialect, read, 0);
  const isDescending = isNewestFirst(read);
  const [isWithin, isBefore, isShort, direction, none] = (
    isDescending
      ? ["<", ">", "+", "asc", "9223372036854775807"]
      : [">", "<", "-", "desc", "-9223372036854775807"]
  ).map((text) => sql.raw(text));
  const bound = sql`select b.row_no from ${table(read)} as b where ${isOfTenant("b")}
    and b.created_at ${isBefore} ${shifted(value, isShort!, read)} order by b.created_at ${direction}, b.id ${direction} limit 1`;
  return sql` and rowid ${isWithin} coalesce((${bound}), ${none})`;
}

/** Whether rows are read from the newest one on. */
function isNewestFirst(read: Read): boolean {
  return read.sort[0].isDescending !== isReversed(read);
}

/** A time, later or earlier by the disorder of the table; null if that is not a valid time. */
function shifted(time: Expression, sign: Expression, { resource }: Read): Expression {
  const seconds = sql`'${sign}' || (${disorderOf(resource.table)} / 1000.0) || ' seconds'`;
  return sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${time}, ${seconds})`;
}
