// A page of rows as one SQL statement in which the database builds the JSON of every row. It is compiled once for each
// shape - fields, filters, sort, direction - and bound to new values on every call.

import { type RawBuilder, sql } from "kysely";
import { conditionShape, isComparison, isOfFewIds } from "../../query/condition.ts";
import { rowSeparator } from "../../query/page.ts";
import type { Position, Read } from "../../query/read.ts";
import { sortText } from "../../query/sort.ts";
import type { Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { compile, parameter } from "../statement.ts";
import { columnsOf, orderBy, orderColumns, sortedBy } from "./columns.ts";
import { conditionsOf } from "./condition.ts";
import { elementWalk, type PageSource, pageSource } from "./element-walk.ts";
import { type IndexRange, isReversed, rangesOf } from "./index-ranges.ts";
import { type Expression, isOfTenant, type ReadInput, tenantOf } from "./input.ts";
import { mayBeLarge, mayScan } from "./may-scan.ts";
import { type RowParts, rowParts } from "./row.ts";
import { limitOf, rowLimit } from "./row-limit.ts";
import { searchParts } from "./search.ts";
import type { SearchAccess, SearchParts } from "./search-access.ts";

/**
 * The columns that a compiled list returns: the rows as text, the sort values of each row where the text does not
 * contain them, the number of rows, the total of a numbered page, and the number of rows that were found, which is larger
 * where the answer was cut at its bound. A search also returns whether the page is complete (`completeness`).
 */
export type ListColumns = readonly [
  text: string | null,
  keys: string | null,
  count: number,
  total: number | null,
  found?: number,
  completeness?: number,
];

/**
 * A page of rows. Its columns are `ListColumns`.
 *
 * @param access how the rows of a search are found; by default all matches are read
 */
export function compileList(dialect: Dialect, read: Read, access?: SearchAccess): Statement<ReadInput<Read>> {
  const texts = rowTextsOf(read);
  const isBackward = read.page.style === "cursor" && read.page.isBackward;
  const search = access && searchParts(dialect, read, access);
  const ranges = pageRanges(dialect, read);
  const isBuiltLast = ranges.length > 1 || read.words.length > 0 || access !== undefined || isReadByIds(read);
  const isInOrder = !isBackward && (!isBuiltLast || dialect.aggregatesInOrder);
  const order = isInOrder ? undefined : orderBy(dialect, "r", read.sort);
  // The JSON of rows of one range is built while they are read; that of several ranges only after the merge, and that of a
  // search and of rows that are read by their ids only after the sort.
  const parts = rowParts(dialect, "r", read.selection);
  const columns = [
    ...texts.map(({ name, of }) => sql`${of(dialect, read, parts)} as ${sql.ref(name)}`),
    ...(order ? [sql.join(orderColumns(read))] : []),
  ];
  const rows = isBuiltLast
    ? sql`${pageColumns(dialect, read, search)}${parts.joins}`
    : sql`(${rangeRows(dialect, read, ranges[0]!, columns, parts.joins)}) as r`;
  const [text, keys] = texts.map(({ name, of }) => {
    const one = isBuiltLast ? of(dialect, read, parts) : sql.ref<string>(`r.${name}`);
    return dialect.concatenated(one, rowSeparator, order);
  });
  return compile(
    dialect.builder,
    sql`select ${text}, ${keys ?? sql`null`}, count(*), ${totalOf(dialect, read)}${outcomeOf(search, sql`count(*)`)} from ${rows}`,
    { mayScan: mayScan(read, access), tenantOf },
  );
}

/** The columns of `ListColumns` that only a search has. */
function outcomeOf(search: SearchParts | undefined, found: Expression): Expression {
  return search ? sql`, ${found}, ${search.isComplete(found)}` : sql``;
}

/** The number of all rows of a list, for numbered pages; null for others. */
export function totalOf(dialect: Dialect, read: Read): Expression {
  if (read.page.style !== "page") return sql`null`;
  const matching = [isOfTenant("r"), ...conditionsOf(dialect, "r", read.conditions)];
  return sql`(select count(*) from ${source(dialect, read).from} where ${sql.join(matching, sql` and `)})`;
}

export interface RowText {
  /** The name of its column in a subquery. It contains a space, so that it is not the name of a stored column. */
  readonly name: string;
  readonly of: (dialect: Dialect, read: Read, row: RowParts<string>) => RawBuilder<string>;
}

/** The texts of a row `r`: its JSON, and the values that a cursor needs. */
const rowTexts: readonly RowText[] = [
  { name: "row text", of: (_dialect, _read, { json }) => json },
  {
    name: "row keys",
    of: (dialect, { sort }) => {
      const values = sortedBy(sort).map((each) => dialect.memberJson(each, sql.ref(`r.${each.column}`)));
      return dialect.listJson([...values, sql.ref("r.id")]);
    },
  },
];

/** The texts that a page needs of each row. */
export function rowTextsOf(read: Read): readonly RowText[] {
  return needsKeys(read) ? rowTexts : rowTexts.slice(0, 1);
}

/** Whether the positions of rows are returned in a column of their own. */
export function needsKeys(read: Read): boolean {
  if (read.page.style !== "cursor") return false;
  return read.page.includesPositions === true || !showsSort(read);
}

/** Whether the JSON of a row contains the values that a cursor needs. */
function showsSort({ selection, sort }: Read): boolean {
  return [...sortedBy(sort).map(({ name }) => name), "id"].every((name) =>
    selection.members.some(
      (member) => member.kind === "value" && member.name === name && member.attribute.name === name,
    ),
  );
}

/** The `from` item `r` of a page's rows, in the order in which the index is walked. */
export function pageColumns(dialect: Dialect, read: Read, search?: SearchParts): Expression {
  if (search) return search.rows;
  const ranges = pageRanges(dialect, read);
  if (ranges.length > 1) return sql`${merged(dialect, read, ranges)} as r`;
  const columns = columnsOf("r", read.selection, sortedBy(read.sort));
  return sql`(${rangeRows(dialect, read, ranges[0]!, columns, sql``)}) as r`;
}

/** Whether the rows are read by their ids, of which there are several, and then sorted. */
function isReadByIds({ conditions }: Read): boolean {
  return conditions.some((each) => isComparison(each) && isOfFewIds(each) && each.values.length > 1);
}

function pageRanges(dialect: Dialect, read: Read): IndexRange[] {
  return rangesOf(dialect, read);
}

/** The rows of several ranges, each limited, merged into one order. */
function merged(dialect: Dialect, read: Read, ranges: readonly IndexRange[]): Expression {
  const columns = columnsOf("r", read.selection, sortedBy(read.sort));
  if (elementWalk(read)) return mergedByElements(dialect, read, ranges, columns);
  const all = sql.join(
    ranges.map((range) => sql`select * from (${rangeRows(dialect, read, range, columns, sql``)}) as b`),
    sql` union all `,
  );
  const order = orderBy(dialect, "r", read.sort, isReversed(read));
  return sql`(select * from (${all}) as r order by ${order} limit ${limitOf(dialect, read)})`;
}

/** The rows of several elements, each once, although a row may have several of the elements. */
function mergedByElements(
  dialect: Dialect,
  read: Read,
  ranges: readonly IndexRange[],
  columns: readonly Expression[],
): Expression {
  const { alias } = pageSource(dialect, read, elementWalk(read));
  const keys = [...new Set([...sortedBy(read.sort).map(({ column }) => column), "id"])];
  const ownKeys = keys.map((key) => sql.ref(`${alias}.${key}`));
  const distinct = sql.join(
    ranges.map((range) => sql`select * from (${rangeRows(dialect, read, range, ownKeys, sql``)}) as b`),
    sql` union `,
  );
  const order = orderBy(dialect, "k", read.sort, isReversed(read));
  return sql`(select ${sql.join(columns)} from (select * from (${distinct}) as k order by ${order} limit ${limitOf(dialect, read)}) as k
    ${dialect.joinLookedUp(read.resource.table, "r", sql`${isOfTenant("r")} and r.id = k.id`)} order by ${order})`;
}

function rangeRows(
  dialect: Dialect,
  read: Read,
  { conditions, fixed }: IndexRange,
  columns: readonly Expression[],
  joins: Expression,
): Expression {
  const { from, alias } = source(dialect, read);
  const order = orderBy(dialect, alias, read.sort, isReversed(read), isReadByIds(read), fixed);
  const offset =
    read.page.style === "page"
      ? sql` offset ${parameter(({ read: { page } }: ReadInput<Read>) => (page.style === "page" ? (page.number - 1) * page.limit : 0), "rows before the page")}`
      : sql``;
  return sql`select ${sql.join(columns)} from ${from}${joins} where ${sql.join([isOfTenant(alias), ...conditions], sql` and `)}
    order by ${order} limit ${limitOf(dialect, read)}${offset}`;
}

function source(dialect: Dialect, read: Read): PageSource {
  if (read.words.length === 0) return pageSource(dialect, read, elementWalk(read));
  const text = parameter(
    ({ tenantNo, read }: ReadInput<Read>) => dialect.searchText(tenantNo, read.words),
    "words of q",
  );
  return { from: dialect.searched(read.resource, text), alias: "r" };
}

/** The key of a list's compiled statement: reads of one resource with the same shape share a statement. */
export function listShape(dialect: Dialect, read: Read, access?: SearchAccess): string {
  const { selection, sort, page, words } = read;
  const conditions = conditionShape(read.conditions);
  const limitText = dialect.name === "postgres" ? rowLimit(read) : "";
  const pageText =
    page.style === "cursor"
      ? `${page.isBackward ? "<" : ">"}${page.position ? positionShape(page.position) : ""}${page.includesPositions ? "*" : ""}`
      : page.style;
  return `${selection.key}|${conditions}|${words.length > 0 || access ? searchShape(access) : ""}|${sortText(sort)}|${pageText}|${limitText}${mayBeLarge(read) ? "large" : ""}${read.impliedCondition ? "implied" : ""}`;
}

function searchShape(access: SearchAccess | undefined): string {
  if (!access) return "q";
  const { kind, maxWalked, checkedWords, isQuick, maxRowBytes = "" } = access;
  return `q ${kind} ${maxWalked} ${checkedWords} ${maxRowBytes}${isQuick ? " quick" : ""}`;
}

/** Whether each value is null. */
function positionShape({ values }: Position): string {
  let shape = "";
  for (const value of values) shape += value === null ? "null" : "value";
  return shape;
}
