// A `Read` becomes one SQL statement in which the database builds the JSON of every row. It is compiled once
// for each shape - which fields, filters, sort and direction - and bound to new values on every call.

import { type RawBuilder, sql } from "kysely";
import type { ResourceModel } from "../../model/model.ts";
import { rowSeparator } from "../../query/page.ts";
import {
  type Comparison,
  type Condition,
  conditionShape,
  isComparison,
  type Read,
  type ReadOne,
  type Value,
} from "../../query/read.ts";
import type { Statement } from "../database.ts";
import type { Dialect, Lock } from "../dialect.ts";
import { compile, parameter } from "../statement.ts";
import { maxBranches, mayBeLarge, mayGetScan, mayScan } from "./may-scan.ts";
import {
  boundValue,
  columnsOf,
  conditionsOf,
  type Expression,
  orderBy,
  ownConditions,
  type ReadInput,
  type RowParts,
  rowParts,
} from "./row.ts";

/** The row with an id, as JSON text, or no row. */
export function compileGet(
  dialect: Dialect,
  read: ReadOne,
  lock: Lock | undefined,
): Statement<ReadInput<ReadOne>> {
  const { resource } = read;
  const { json, joins } = rowParts(dialect, "r", read.selection);
  return compile(
    dialect.builder,
    sql`select ${json} from ${sql.table(resource.table)} as r${joins}
      where ${rowMatching(dialect, read)}${lock ? dialect.locks[lock] : sql``}`,
    { mayScan: !lock && mayGetScan(read), tenantOf },
  );
}

export function rowMatching(dialect: Dialect, { conditions }: ReadOne): Expression {
  return sql.join(
    [
      tenant(),
      sql`r.id = ${parameter(({ read }: ReadInput<ReadOne>) => read.id)}`,
      ...conditionsOf(dialect, "r", conditions),
    ],
    sql` and `,
  );
}

/** Some rows of a resource, by their ids, and what they must meet. */
export interface RowsById {
  readonly ids: readonly string[];
  readonly conditions: readonly Condition[];
}

/** The ids of those rows that meet the conditions. However many there are, the statement is the same. */
export function compileFilterIds(
  dialect: Dialect,
  resource: ResourceModel,
  conditions: readonly Condition[],
): Statement<ReadInput<RowsById>> {
  const ids = parameter(({ read }: ReadInput<RowsById>) => JSON.stringify(read.ids));
  const matching = [
    tenant(),
    sql`r.id in (${dialect.textsOf(ids)})`,
    ...conditionsOf(dialect, "r", conditions),
  ];
  return compile(
    dialect.builder,
    sql`select r.id from ${sql.table(resource.table)} as r where ${sql.join(matching, sql` and `)}`,
  );
}

/**
 * What a compiled list answers: rows as text, the sort values of each (where the text lacks them), their number, the
 * total, and the number of rows that were found, where it may be larger because the answer is bounded.
 */
export type ListColumns = readonly [
  text: string | null,
  keys: string | null,
  count: number | string,
  total: number | string | null,
  found?: number | string,
];

/** Whether the text of a row shows the values that a cursor needs. */
export function showsSort({ selection, sort }: Read): boolean {
  return [sort.attribute.name, "id"].every((name) =>
    selection.members.some(
      (member) => member.kind === "value" && member.name === name && member.attribute.name === name,
    ),
  );
}

/** Whether the places of rows stand in a column of their own. */
export function needsKeys(read: Read): boolean {
  if (read.page.style !== "cursor") return false;
  return read.page.includesPositions === true || !showsSort(read);
}

/** How many rows to ask for: one more than the page, to see whether there are more. */
function rowLimit({ page }: Read): number {
  return page.style === "cursor" ? page.limit + 1 : page.limit;
}

/** A page of rows. Its columns are `ListColumns`. */
export function compileList(dialect: Dialect, read: Read): Statement<ReadInput<Read>> {
  const shown = shownTexts(read);
  const isBackward = read.page.style === "cursor" && read.page.isBackward;
  const ranges = rangesOf(dialect, read);
  const isMerged = ranges.length > 1;
  const order = isMerged || isBackward ? orderBy(dialect, "r", read.sort, read.sort.isDescending) : undefined;
  // Rows of one range become text where they are found; those of several only once it is known which are kept.
  const parts = rowParts(dialect, "r", read.selection);
  const columns = [
    ...shown.map(({ name, of }) => sql`${of(dialect, read, parts)} as ${sql.ref(name)}`),
    ...(order ? [sql.join(orderColumns(read))] : []),
  ];
  const rows = isMerged
    ? sql`${merged(dialect, read, ranges)} as r${parts.joins}`
    : sql`(${rangeRows(dialect, read, ranges[0]!, columns, parts.joins)}) as r`;
  const [text, keys] = shown.map(({ name, of }) => {
    const one = isMerged ? of(dialect, read, parts) : sql.ref<string>(`r.${name}`);
    return dialect.concatenated(one, rowSeparator, order);
  });
  return compile(
    dialect.builder,
    sql`select ${text}, ${keys ?? sql`null`}, count(*), ${totalOf(dialect, read)} from ${rows}`,
    { mayScan: mayScan(read), tenantOf },
  );
}

/** How many rows a list has in all, where its pages are numbered. */
export function totalOf(dialect: Dialect, read: Read): Expression {
  if (read.page.style !== "page") return sql`null`;
  return sql`(select count(*) from ${source(dialect, read)} where ${matching(dialect, read)})`;
}

export function tenantOf({ tenantId }: ReadInput<unknown>): string {
  return tenantId;
}

export interface RowText {
  /** Names of what a subquery answers; no column has a space in its name. */
  readonly name: string;
  readonly of: (dialect: Dialect, read: Read, row: RowParts<string>) => RawBuilder<string>;
}

/** What a row `r` is written as: its JSON, and where the JSON does not show them, the values that a cursor needs. */
const rowTexts: readonly RowText[] = [
  { name: "row text", of: (_dialect, _read, { json }) => json },
  {
    name: "row keys",
    of: (dialect, { sort: { attribute } }) =>
      dialect.listJson([dialect.memberJson(attribute, sql.ref(`r.${attribute.column}`)), sql.ref("r.id")]),
  },
];

/** The texts that a page needs of each row. */
export function shownTexts(read: Read): readonly RowText[] {
  return needsKeys(read) ? rowTexts : rowTexts.slice(0, 1);
}

/** The columns of a page's rows, in the order in which they are found. */
export function pageColumns(dialect: Dialect, read: Read): Expression {
  const ranges = rangesOf(dialect, read);
  if (ranges.length > 1) return merged(dialect, read, ranges);
  const columns = columnsOf("r", read.selection, [read.sort.attribute]);
  return sql`(${rangeRows(dialect, read, ranges[0]!, columns, sql``)})`;
}

export function orderColumns({ sort }: Read): Expression[] {
  return [...new Set([sort.attribute.column, "id"])].map((name) => sql.ref(`r.${name}`));
}

/** Rows from several ranges of an index, each already limited, put into one order. */
function merged(dialect: Dialect, read: Read, ranges: readonly Range[]): Expression {
  const all = sql.join(
    ranges.map(
      (range) =>
        sql`select * from (${rangeRows(dialect, read, range, columnsOf("r", read.selection, [read.sort.attribute]), sql``)}) as b`,
    ),
    sql` union all `,
  );
  return sql`(select * from (${all}) as r order by ${orderBy(dialect, "r", read.sort, isTraversedDescending(read))} limit ${limit(dialect, read)})`;
}

/** The conditions that the rows of one range of an index meet, beside their tenant's. */
type Range = readonly Expression[];

/**
 * The ranges of the index in which the page lies. Mostly there is one. Nulls lie in a range of their own, and
 * each value of a filter with several values has its own, because only within one are rows in order. Numbered
 * pages have one range only: rows are counted through all of them together.
 */
function rangesOf(dialect: Dialect, read: Read): Range[] {
  const split =
    read.page.style !== "page"
      ? read.conditions
          .filter(isComparison)
          .find(
            ({ attribute, operator, values }) =>
              operator === "in" &&
              values.length > 1 &&
              values.length <= maxBranches &&
              !attribute.statusRules,
          )
      : undefined;
  const others = read.conditions.filter((condition) => condition !== split);
  const common = [
    ...searchOf(dialect, read),
    ...conditionsOf(dialect, "r", read.conditions, { some: others }),
  ];
  const splitParts = split ? split.values.map((_, index) => [oneValue(dialect, read, split, index)]) : [[]];
  return splitParts.flatMap((part) =>
    beyondPosition(dialect, read).map((beyond) => [...part, ...common, ...beyond]),
  );
}

function oneValue(dialect: Dialect, read: Read, condition: Comparison, index: number): Expression {
  const { attribute, values } = condition;
  const column = sql.ref(`r.${attribute.column}`);
  if (values[index] === null) return sql`${column} is null`;
  const value = boundValue(dialect, attribute, ownConditions, read.conditions.indexOf(condition), index);
  return sql`${column} = ${value}`;
}

function rangeRows(
  dialect: Dialect,
  read: Read,
  range: Range,
  answered: readonly Expression[],
  joins: Expression,
): Expression {
  const order = orderBy(dialect, "r", read.sort, isTraversedDescending(read));
  const offset =
    read.page.style === "page"
      ? sql` offset ${parameter(({ read: { page } }: ReadInput<Read>) => (page.style === "page" ? (page.number - 1) * page.limit : 0))}`
      : sql``;
  return sql`select ${sql.join(answered)} from ${source(dialect, read)}${joins} where ${sql.join([tenant(), ...range], sql` and `)}
    order by ${order} limit ${limit(dialect, read)}${offset}`;
}

/** The conditions under which rows lie beyond the position of the page; one list for each range. */
function beyondPosition(dialect: Dialect, { sort, page }: Read): Range[] {
  if (page.style !== "cursor" || !page.position) return [[]];
  const isDescending = sort.isDescending !== page.isBackward;
  const column = sql.ref(`r.${sort.attribute.column}`);
  const value = parameter((input: ReadInput<Read>) =>
    dialect.encode(sort.attribute, positionOf(input).value),
  );
  const rowId = parameter((input: ReadInput<Read>) => positionOf(input).id);
  const beyond = sql.raw(isDescending ? "<" : ">");
  // Nulls count as smallest: they come first upwards and last downwards.
  if (page.position.value === null) {
    const restOfNulls = [sql`${column} is null`, sql`r.id ${beyond} ${rowId}`];
    return isDescending ? [restOfNulls] : [restOfNulls, [sql`${column} is not null`]];
  }
  const rest = [sql`(${column}, r.id) ${beyond} (${value}, ${rowId})`];
  return sort.attribute.isNullable && isDescending ? [rest, [sql`${column} is null`]] : [rest];
}

function positionOf({ read: { page } }: ReadInput<Read>): { value: Value; id: string } {
  if (page.style === "cursor" && page.position) return page.position;
  throw new Error("a statement for a position was bound to a read without one");
}

export function isTraversedDescending({ sort, page }: Read): boolean {
  return sort.isDescending !== (page.style === "cursor" && page.isBackward);
}

function limit(dialect: Dialect, read: Read): Expression {
  return dialect.limit(
    rowLimit(read),
    parameter((input: ReadInput<Read>) => rowLimit(input.read)),
  );
}

function source(dialect: Dialect, { resource, words }: Read): Expression {
  return words.length > 0 ? dialect.searched(resource) : sql`${sql.table(resource.table)} as r`;
}

function tenant(): Expression {
  return sql`r.tenant_id = ${parameter(tenantOf)}`;
}

function matching(dialect: Dialect, read: Read): Expression {
  return sql.join(
    [tenant(), ...searchOf(dialect, read), ...conditionsOf(dialect, "r", read.conditions)],
    sql` and `,
  );
}

function searchOf(dialect: Dialect, { resource, words }: Read): Expression[] {
  if (words.length === 0) return [];
  const text = parameter(({ tenantId, read }: ReadInput<Read>) => dialect.searchText(tenantId, read.words));
  return [dialect.matches(resource, text)];
}

/** What tells two reads of one resource apart for the compiler; reads of one shape share a statement. */
export function listShape(dialect: Dialect, read: Read): string {
  const { selection, sort, page, words } = read;
  const conditions = conditionShape(read.conditions);
  const limitText = dialect.name === "postgres" ? rowLimit(read) : "";
  const pageText =
    page.style === "cursor"
      ? `${page.isBackward ? "<" : ">"}${positionShape(page.position?.value)}${page.includesPositions ? "*" : ""}`
      : page.style;
  const sortText = `${sort.isDescending ? "-" : ""}${sort.attribute.name}`;
  return `${selection.key}|${conditions}|${words.length > 0 ? "q" : ""}|${sortText}|${pageText}|${limitText}${mayBeLarge(read) ? "large" : ""}`;
}

function positionShape(value: Value | undefined): string {
  if (value === undefined) return "";
  return value === null ? "null" : "value";
}
