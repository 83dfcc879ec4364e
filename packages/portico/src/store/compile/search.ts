// A page of a search whose cost is bounded. There are two ways to find its rows, and `search/bounded-search.ts` chooses:
//
// "walk" reads rows in the order of the page and checks each for the words. It suits words that many rows contain: the
// page is full after a few rows. The walk ends after a number of rows; it then reports that the page is incomplete.
//
// "matches" asks the search index for all matches. SQLite sorts a few of them. Of many it only keeps the set of their
// row numbers, and walks the index of the sort until enough entries are in the set: an entry of that index takes a tenth
// of the time that reading a row takes. PostgreSQL always sorts them.

import { sql } from "kysely";
import type { Condition } from "../../query/condition.ts";
import type { Read } from "../../query/read.ts";
import type { Dialect } from "../dialect.ts";
import { searchTable } from "../schema/ddl.ts";
import { containedWord } from "../search/index-terms.ts";
import { parameter } from "../statement.ts";
import { columnsOf, orderBy } from "./columns.ts";
import { conditionsOf } from "./condition.ts";
import { beyondPosition, isTraversedDescending, walkRanges } from "./index-ranges.ts";
import { type Expression, isOfTenant, type ReadInput, type SearchTerms } from "./input.ts";
import { walkedConditions } from "./page-index.ts";
import { limitOf } from "./row-limit.ts";

/** How the rows of a search are found. It is part of the shape of a statement. */
export interface SearchAccess {
  readonly kind: "walk" | "matches";
  /** How many rows a walk reads at most. */
  readonly maxWalked: number;
  /** How many words are checked on each row. */
  readonly checkedWords: number;
  /** Whether it takes so little time that it need not run as a slow read. */
  readonly isQuick: boolean;
}

/** The parts of the statement of a search. */
export interface SearchParts {
  /** Precedes `select`. */
  readonly prefix: Expression;
  /** The `from` item of the page's rows, with the columns that their JSON is built from. */
  readonly rows: Expression;
  /**
   * Two columns of the result: whether the page is complete, as 0 or 1, and the number of matches, null if unknown.
   *
   * @param found the number of rows found, where the statement knows it: then only an incomplete page is examined
   */
  readonly outcome: (found: Expression | undefined) => Expression;
}

export function searchParts(dialect: Dialect, read: Read, access: SearchAccess): SearchParts {
  if (access.kind === "walk") return walk(dialect, read, access);
  return dialect.name === "sqlite" ? sqliteMatches(dialect, read, access) : allMatches(dialect, read, access);
}

function walk(dialect: Dialect, read: Read, access: SearchAccess): SearchParts {
  const walked = walkedConditions(read)!;
  const size = sql`${sql.lit(access.maxWalked)}`;
  const checks = [...uncheckedConditions(dialect, read, walked), ...wordChecks(dialect, access)];
  const order = orderBy(dialect, "r", read.sort, isTraversedDescending(read));
  const limit = limitOf(dialect, read);
  const columns = pageColumnsOf(read);
  const counted = sql`(select count(*) from (${walkedRows(dialect, read, walked, sql.join(orderColumns(read)), size)}) as w) < ${size}`;
  return {
    prefix: sql``,
    rows:
      dialect.name === "sqlite"
        ? sql`(${rowsOfWalk(dialect, read, walkedRows(dialect, read, walked, rowNumbers(dialect, read), size), checks, columns)}) as r`
        : // The subquery has this order already, so PostgreSQL does not sort.
          sql`(select ${columns} from (${walkedRows(dialect, read, walked, sql`r.*`, size)}) as r where ${all(checks)} order by ${order} limit ${limit}) as r`,
    outcome: (found) => sql`${outcomeOf(found, limit, counted)}, null`,
  };
}

/** How many matches SQLite walks the index of the sort for, in entries for each match. */
const entriesPerMatch = 20;

function sqliteMatches(dialect: Dialect, read: Read, access: SearchAccess): SearchParts {
  const index = sql.table(searchTable(read.resource.table));
  const text = searchParameter(
    ({ tenantNo, search }) => dialect.searchText(tenantNo, search.indexed),
    "words of q",
  );
  const prefix = sql`with m as materialized (select rowid as row_no from ${index} where ${index} match ${text}) `;
  const matches = sql`(select count(*) from m)`;
  const words = wordChecks(dialect, access);
  const order = orderBy(dialect, "r", read.sort, isTraversedDescending(read));
  const limit = limitOf(dialect, read);
  const conditions = [
    isOfTenant("r"),
    ...conditionsOf(dialect, "r", read.conditions),
    ...beyondPositionOnce(dialect, read),
    ...words,
  ];
  const maxSorted = searchParameter(({ search }) => search.maxSorted, "sorted matches");
  // A limit of 0 ends a branch before its first row; SQLite would evaluate a constant condition on each row.
  const sorted = sql`select r.row_no from (select row_no from m limit case when ${matches} <= ${maxSorted} then -1 else 0 end) as m
    cross join ${table(read)} as r on r.row_no = m.row_no where ${all(conditions)} order by ${order} limit ${limit}`;
  const page = (numbers: Expression): Expression =>
    sql`(select ${pageColumnsOf(read)} from (${numbers}) as w cross join ${table(read)} as r on r.row_no = w.row_no) as r`;
  const walked = walkedConditions(read);
  if (!walked) return { prefix, rows: page(sorted), outcome: () => sql`1, ${matches}` };
  const entries = sql`case when ${matches} > ${maxSorted} then ${matches} * ${sql.lit(entriesPerMatch)} else 0 end`;
  const inSet = [
    sql`w.row_no in (select row_no from m)`,
    ...uncheckedConditions(dialect, read, walked),
    ...words,
  ];
  const walkedNumbers = walkedRows(dialect, read, walked, rowNumbers(dialect, read), entries);
  const rest = rowsOfWalk(dialect, read, walkedNumbers, inSet, sql`r.row_no`);
  const isWhole = sql`case when ${matches} <= ${maxSorted} then 1 else
    (select count(*) from (${walkedRows(dialect, read, walked, rowNumbers(dialect, read), entries)}) as w) < ${entries} end`;
  return {
    prefix,
    rows: page(sql`select * from (${sorted}) as s union all select * from (${rest}) as s`),
    outcome: (found) => sql`${outcomeOf(found, limit, isWhole)}, ${matches}`,
  };
}

function allMatches(dialect: Dialect, read: Read, access: SearchAccess): SearchParts {
  const text = searchParameter(
    ({ tenantNo, search }) => dialect.searchText(tenantNo, search.indexed),
    "words of q",
  );
  const conditions = [
    isOfTenant("r"),
    ...conditionsOf(dialect, "r", read.conditions),
    ...beyondPositionOnce(dialect, read),
    ...wordChecks(dialect, access),
  ];
  const order = orderBy(dialect, "r", read.sort, isTraversedDescending(read));
  return {
    prefix: sql``,
    rows: sql`(select ${pageColumnsOf(read)} from ${dialect.searched(read.resource, text)} where ${all(conditions)} order by ${order} limit ${limitOf(dialect, read)}) as r`,
    outcome: () => sql`1, null`,
  };
}

/** The first rows of the page's index range, whether they match or not. */
function walkedRows(
  dialect: Dialect,
  read: Read,
  walked: readonly Condition[],
  columns: Expression,
  count: Expression,
): Expression {
  const order = orderBy(dialect, "r", read.sort, isTraversedDescending(read));
  const ranges = walkRanges(dialect, read, walked).map(
    (range) =>
      sql`select ${columns} from ${table(read)} as r where ${all([isOfTenant("r"), ...range])} order by ${order} limit ${count}`,
  );
  if (ranges.length === 1) return ranges[0]!;
  const each = ranges.map((range) => sql`select * from (${range}) as b`);
  return sql`select * from (${sql.join(each, sql` union all `)}) as r order by ${order} limit ${count}`;
}

/** SQLite reads the rows in the order in which it walks the index. With `order by` it would read all before the first. */
function rowsOfWalk(
  dialect: Dialect,
  read: Read,
  numbers: Expression,
  conditions: readonly Expression[],
  columns: Expression,
): Expression {
  return sql`select ${columns} from (${numbers}) as w cross join ${table(read)} as r on r.row_no = w.row_no
    where ${all(conditions)} limit ${limitOf(dialect, read)}`;
}

function rowNumbers(dialect: Dialect, read: Read): Expression {
  return sql`r.${dialect.rowIdColumn}, ${sql.join(orderColumns(read))}`;
}

/** The columns that rows are sorted by. */
function orderColumns({ sort }: Read): Expression[] {
  return [...new Set([sort.attribute.column, "id"])].map((name) => sql.ref(`r.${name}`));
}

function pageColumnsOf(read: Read): Expression {
  return sql.join(columnsOf("r", read.selection, [read.sort.attribute]));
}

/** The conditions that the walked index range does not meet by itself. */
function uncheckedConditions(dialect: Dialect, read: Read, walked: readonly Condition[]): Expression[] {
  const subset = read.conditions.filter((condition) => !walked.includes(condition));
  return conditionsOf(dialect, "r", read.conditions, { subset });
}

/** The conditions that a row contains the checked words. */
function wordChecks(dialect: Dialect, { checkedWords }: SearchAccess): Expression[] {
  return Array.from({ length: checkedWords }, (_, index) => {
    const word = searchParameter(({ search }) => containedWord(search.checked[index]!), "word of q");
    return sql`${dialect.positionIn(sql.ref("r.search_words"), word)} > 0`;
  });
}

/** The condition that a row is beyond the position of the page, as one condition for all ranges. */
function beyondPositionOnce(dialect: Dialect, read: Read): Expression[] {
  const ranges = beyondPosition(dialect, read).map((range) => all(range));
  return [ranges.length === 1 ? ranges[0]! : sql`(${sql.join(ranges, sql` or `)})`];
}

function outcomeOf(found: Expression | undefined, limit: Expression, isWhole: Expression): Expression {
  const isFull = found ? sql`when ${found} >= ${limit} then 1 ` : sql``;
  return sql`case ${isFull}when ${isWhole} then 1 else 0 end`;
}

function searchParameter(
  value: (input: { readonly tenantNo: number | null; readonly search: SearchTerms }) => unknown,
  meaning: string,
): Expression {
  // A statement of a search is bound to its terms.
  return parameter(({ tenantNo, search }: ReadInput<Read>) => value({ tenantNo, search: search! }), meaning);
}

function table({ resource }: Read): Expression {
  return sql.table(resource.table);
}

function all(conditions: readonly Expression[]): Expression {
  return conditions.length === 0 ? sql`1 = 1` : sql`${sql.join(conditions, sql` and `)}`;
}
