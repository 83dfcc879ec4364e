// A page of a search whose cost is bounded. `search/bounded-search.ts` chooses between these ways to find its rows:
//
// "walk" reads rows in the order of the page and checks each for the words. It suits words that many rows contain: the
// page is full after a few rows.
//
// "sorted" asks the search index for all matches, reads their rows and sorts them. It suits words that few rows contain.
//
// "set" is for words in between, on SQLite. It keeps only the row numbers of the matches, and walks the index of the sort
// until enough of its entries are in that set. Comparing an entry takes a tenth of the time that reading a row takes.
//
// A walk ends after a number of rows or entries; it then reports that the page is incomplete.
//
// A quick statement does not read rows with long texts (`row-size.ts`). It takes them for matches, and reports that the
// page has such a row.

import { sql } from "kysely";
import type { Condition } from "../../query/condition.ts";
import type { Read } from "../../query/read.ts";
import type { Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { searchTable } from "../schema/table.ts";
import { containedWord } from "../search/index-terms.ts";
import { compile, parameter } from "../statement.ts";
import { columnsOf, orderBy, orderColumns, sortedBy } from "./columns.ts";
import { conditionsOf } from "./condition.ts";
import { all, beyondPositionOnce, isReversed, walkRanges } from "./index-ranges.ts";
import { type Expression, isOfTenant, type ReadInput, type SearchTerms, tenantOf } from "./input.ts";
import { walkedConditions } from "./page-index.ts";
import { limitOf } from "./row-limit.ts";
import { isLongRow } from "./row-size.ts";

/** How the rows of a search are found. It is part of the shape of a statement. */
export interface SearchAccess {
  readonly kind: "walk" | "sorted" | "set";
  /** How many rows "walk" checks at most. PostgreSQL must know it when it plans. */
  readonly maxWalked: number;
  /** How many words are checked on each row. */
  readonly checkedWords: number;
  /** Whether it takes so little time that it need not run as a slow read. */
  readonly isQuick: boolean;
  /** Rows with longer texts are not read; without it, all are. */
  readonly maxRowBytes?: number;
}

/** The values of the column that says whether a page is complete. */
export const completeness = { incomplete: 0, complete: 1, hasLongRow: 2 } as const;

/** The parts of the statement of a search. */
export interface SearchParts {
  /** The `from` item of the page's rows, with the columns that their JSON is built from. */
  readonly rows: Expression;
  /**
   * A column of the result: a value of `completeness`.
   *
   * @param found the number of rows found, where the statement aggregates them: then only a page that is not full is
   *   examined
   */
  readonly isComplete: (found: Expression | undefined) => Expression;
  /** The column of `rows` that says whether a row was not read, as 0 or 1; undefined if all are read. */
  readonly isLong: Expression | undefined;
}

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

type FoundRows = Pick<SearchParts, "rows" | "isComplete">;

/** It contains a space, so that it is not the name of a stored column. */
const longRowColumn = "row is long";

const parts = { walk, sorted, set };

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

/** Counts the rows, of any tenant with the tag, that the search index has for the indexed words. */
export function compileMatchCount(dialect: Dialect, read: Read): Statement<ReadInput<Read>> {
  const index = sql.table(searchTable(read.resource.table));
  const query = sql`select count(*) from ${index} where ${index} match ${indexedWords(dialect)}`;
  return compile(dialect.builder, query, { mayScan: true, tenantOf });
}

/** The first rows of the page's index range, whether they match or not. */
function walkedRows(dialect: Dialect, read: Read, walked: Walk, columns: Expression): Expression {
  const order = orderBy(dialect, "r", read.sort, isReversed(read));
  const ranges = walkRanges(dialect, read, walked.conditions).map(
    (range) =>
      sql`select ${columns} from ${table(read)} as r where ${all([isOfTenant("r"), ...range])} order by ${order} limit ${walked.limit}`,
  );
  if (ranges.length === 1) return ranges[0]!;
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

function pageColumnsOf(dialect: Dialect, read: Read, access: SearchAccess): Expression {
  const columns = sql.join(columnsOf("r", read.selection, sortedBy(read.sort)));
  const isLong = isLongRow(dialect, read.resource, access.maxRowBytes);
  return isLong
    ? sql`${columns}, case when ${isLong} then 1 else 0 end as ${sql.ref(longRowColumn)}`
    : columns;
}

/** The conditions that the walked index range does not meet by itself. */
function remainingConditions(dialect: Dialect, read: Read, walked: Walk): Expression[] {
  const subset = read.conditions.filter((condition) => !walked.conditions.includes(condition));
  return conditionsOf(dialect, "r", read.conditions, { subset });
}

/** The conditions that a row contains the checked words, or is too long to be read. */
function wordChecks(dialect: Dialect, read: Read, access: SearchAccess): Expression[] {
  const checks = Array.from({ length: access.checkedWords }, (_, index) => {
    const word = searchParameter(({ search }) => containedWord(search.checked[index]!), "word of q");
    return sql`${dialect.positionIn(sql.ref("r.search_words"), word)} > 0`;
  });
  const isLong = isLongRow(dialect, read.resource, access.maxRowBytes);
  return isLong && checks.length > 0 ? [sql`(${isLong} or (${all(checks)}))`] : checks;
}

function indexedWords(dialect: Dialect): Expression {
  return searchParameter(
    ({ tenantNo, search }) => dialect.searchText(tenantNo, search.indexed),
    "words of q",
  );
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
