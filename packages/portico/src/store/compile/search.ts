// A page of a search whose cost is bounded. `search/bounded-search.ts` chooses between these ways to find its rows:
//
// "walk" reads rows in the order of the page and checks each for the words. It suits words that many rows contain: the
// page is full after a few rows. Without words, it serves lists by related rows (`related-walk.ts`).
//
// "sorted" asks the search index for all matches, reads their rows and sorts them. It suits words that few rows contain.
//
// "set" is for words in between, on SQLite. It keeps only the row numbers of the matches, and walks the index of the sort
// until enough of its entries are in that set. Comparing an entry takes a tenth of the time that reading a row takes.
//
// "created" is for the sort by creation on SQLite. The search index returns matches in the order of their row numbers, which
// is nearly that of their creation (`search/creation-order.ts`), so a page needs only the first ones.
//
// "few" is for lists without words: it finds the rows that a condition on related rows allows first (`few-rows.ts`).
//
// A walk ends after a number of rows or entries; it then reports that the page is incomplete. So does "created".
//
// A quick statement does not read rows with long texts (`row-size.ts`). It takes them for matches, and reports that the
// page has such a row.

import { sql } from "kysely";
import type { Attribute, ResourceModel } from "../../model/model.ts";
import type { Condition } from "../../query/condition.ts";
import type { Read } from "../../query/read.ts";
import type { Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { searchTable } from "../schema/table.ts";
import { compile } from "../statement.ts";
import { orderBy, orderColumns } from "./columns.ts";
import { conditionsOf } from "./condition.ts";
import { elementWalk, pageSource } from "./element-walk.ts";
import { few } from "./few-rows.ts";
import { all, beyondPositionOnce, isReversed, walkRanges } from "./index-ranges.ts";
import { type Expression, isOfTenant, type ReadInput, tenantOf } from "./input.ts";
import { walkedConditions } from "./page-index.ts";
import { limitOf } from "./row-limit.ts";
import { isLongRow } from "./row-size.ts";
import {
  completeness,
  type FoundRows,
  indexedWords,
  longRowColumn,
  pageColumnsOf,
  type SearchAccess,
  type SearchParts,
  searchParameter,
  table,
  wordChecks,
} from "./search-access.ts";
import { created } from "./search-by-creation.ts";

/** A walk along an index in the order of the page. */
interface Walk {
  /** The conditions that hold for all rows of the walk. */
  readonly conditions: readonly Condition[];
  /** How many rows or entries it reads at most. */
  readonly limit: Expression;
}

export function searchParts(dialect: Dialect, read: Read, access: SearchAccess): SearchParts {
  const { rows, isComplete } = parts[access.kind](dialect, read, access);
  if (!isLongRow(dialect, read.resource, access.maxRowBytes)) return { rows, isComplete, isLong: undefined };
  const isLong = sql.ref(`r.${longRowColumn}`);
  return {
    rows,
    isLong,
    isComplete: (found) =>
      sql`case when ${found ? sql`max(${isLong})` : isLong} = 1 then ${sql.lit(completeness.hasLongRow)} else ${isComplete(found)} end`,
  };
}

const parts = { walk, sorted, set, created, few };

function walk(dialect: Dialect, read: Read, access: SearchAccess): FoundRows {
  const walked: Walk = { conditions: walkedConditions(read)!, limit: sql`${sql.lit(access.maxWalked)}` };
  const checks = [...remainingConditions(dialect, read, walked), ...wordChecks(dialect, read, access)];
  const isComplete = isWholeWalk(dialect, read, walked);
  const columns = pageColumnsOf(dialect, read, access);
  if (dialect.name === "sqlite")
    return { rows: sql`(${rowsOfWalk(dialect, read, walked, checks, columns)}) as r`, isComplete };
  const order = orderBy(dialect, "r", read.sort, isReversed(read));
  return {
    // The subquery has this order already, so PostgreSQL does not sort.
    rows: sql`(select ${columns} from (${walkedRows(dialect, read, walked, sql`r.*`)}) as r
      where ${all(checks)} order by ${order} limit ${limitOf(dialect, read)}) as r`,
    isComplete,
  };
}

function sorted(dialect: Dialect, read: Read, access: SearchAccess): FoundRows {
  const conditions = [
    isOfTenant("r"),
    ...conditionsOf(dialect, "r", read.conditions),
    beyondPositionOnce(dialect, read),
    ...wordChecks(dialect, read, access),
  ];
  const order = orderBy(dialect, "r", read.sort, isReversed(read));
  const matching = (columns: Expression): Expression =>
    sql`select ${columns} from ${dialect.searched(read.resource, indexedWords(dialect))} where ${all(conditions)}
      order by ${order} limit ${limitOf(dialect, read)}`;
  const isComplete = (): Expression => sql`${sql.lit(completeness.complete)}`;
  const columns = pageColumnsOf(dialect, read, access);
  if (dialect.name === "postgres") return { rows: sql`(${matching(columns)}) as r`, isComplete };
  // Sorting whole rows would take longer than reading the few that remain again.
  return {
    rows: sql`(select ${columns} from (${matching(sql`r.row_no`)}) as w
      cross join ${table(read)} as r on r.row_no = w.row_no) as r`,
    isComplete,
  };
}

function set(dialect: Dialect, read: Read, access: SearchAccess): FoundRows {
  const limit = dialect.limit(
    0,
    searchParameter(({ search }) => search.maxEntries, "entries to walk"),
  );
  const walked: Walk = { conditions: walkedConditions(read)!, limit };
  const index = sql.table(searchTable(read.resource.table));
  const conditions = [
    sql`w.row_no in (select rowid from ${index} where ${index} match ${indexedWords(dialect)})`,
    ...remainingConditions(dialect, read, walked),
    ...wordChecks(dialect, read, access),
  ];
  const columns = pageColumnsOf(dialect, read, access);
  return {
    rows: sql`(${rowsOfWalk(dialect, read, walked, conditions, columns)}) as r`,
    isComplete: isWholeWalk(dialect, read, walked),
  };
}

/** How many successive rows are likely to be in one page of the file. */
const rowsOfBlock = 8;

/** Counts the rows that the search index has for the indexed words, and the blocks of successive rows that they are in. */
export function compileMatchCount(dialect: Dialect, { table }: ResourceModel): Statement<ReadInput<Read>> {
  const index = sql.table(searchTable(table));
  const query = sql`select count(*), count(distinct rowid / ${sql.lit(rowsOfBlock)}) from ${index} where ${index} match ${indexedWords(dialect)}`;
  return compile(dialect.builder, query, { mayScan: true, tenantOf });
}

/** The first rows of the page's index range, whether they match or not. */
function walkedRows(dialect: Dialect, read: Read, walked: Walk, columns: Expression): Expression {
  const { from, alias } = pageSource(dialect, read, elementWalk(read));
  const orderIn = (name: string, fixed: readonly Attribute[] = []): Expression =>
    orderBy(dialect, name, read.sort, isReversed(read), false, fixed);
  const ranges = walkRanges(dialect, read, walked.conditions).map(
    ({ conditions, fixed }) =>
      sql`select ${columns} from ${from} where ${all([isOfTenant(alias), ...conditions])} order by ${orderIn(alias, fixed)} limit ${walked.limit}`,
  );
  if (ranges.length === 1) return ranges[0]!;
  const order = orderIn("r");
  const each = ranges.map((range) => sql`select * from (${range}) as b`);
  return sql`select * from (${sql.join(each, sql` union all `)}) as r order by ${order} limit ${walked.limit}`;
}

/**
 * The rows of a walk that meet the conditions, on SQLite, which reads them in the order in which it walks the index. With
 * `order by` it would read all before the first.
 */
function rowsOfWalk(
  dialect: Dialect,
  read: Read,
  walked: Walk,
  conditions: readonly Expression[],
  columns: Expression,
): Expression {
  const numbers = walkedRows(dialect, read, walked, sql.join([sql`r.row_no`, ...orderColumns(read)]));
  return sql`select ${columns} from (${numbers}) as w cross join ${table(read)} as r on r.row_no = w.row_no
    where ${all(conditions)} limit ${limitOf(dialect, read)}`;
}

/** Whether a walk ended with its index range, or with a full page. */
function isWholeWalk(dialect: Dialect, read: Read, walked: Walk): SearchParts["isComplete"] {
  const numbers = walkedRows(dialect, read, walked, sql.join(orderColumns(read)));
  const isEnd = sql`(select count(*) from (${numbers}) as w) < ${walked.limit}`;
  return (found) => {
    const isFull = found ? sql`when ${found} >= ${limitOf(dialect, read)} then 1 ` : sql``;
    return sql`case ${isFull}when ${isEnd} then 1 else 0 end`;
  };
}

/** The conditions that the walked index range does not meet by itself. */
function remainingConditions(dialect: Dialect, read: Read, walked: Walk): Expression[] {
  const subset = read.conditions.filter((condition) => !walked.conditions.includes(condition));
  return conditionsOf(dialect, "r", read.conditions, { subset, isForEachRow: read.words.length === 0 });
}
