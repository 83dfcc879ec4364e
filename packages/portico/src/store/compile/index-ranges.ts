// The ranges of an index that a page of rows lies in. Rows are in order only within one range, so a page over several
// ranges merges them.

import { sql } from "kysely";
import { orderedChoices } from "../../declare/field.ts";
import type { Attribute } from "../../model/model.ts";
import { type Comparison, type Condition, isComparison, maxSeparateValues } from "../../query/condition.ts";
import type { Position, Read } from "../../query/read.ts";
import type { Dialect } from "../dialect.ts";
import { parameter } from "../statement.ts";
import { boundValue } from "./bound-value.ts";
import { boundSortValue, sortedValue } from "./columns.ts";
import { conditionsOf } from "./condition.ts";
import { elementWalk, isInElementRange, walkedElement } from "./element-walk.ts";
import { type Expression, getConditions, type ReadInput } from "./input.ts";
import { isIndexed } from "./page-index.ts";

export interface IndexRange {
  /** In addition to the tenant's. */
  readonly conditions: readonly Expression[];
  /**
   * The ordered choices that have one rank in all rows of the range, which SQLite does not see in an expression: it would
   * sort the rows by it.
   */
  readonly fixed: readonly Attribute[];
}

/**
 * The ranges of the index in which the page lies, mostly one. Nulls have a range of their own, and so has each value of
 * a filter with several values. A numbered page has one range, because rows are counted across all values.
 */
export function rangesOf(dialect: Dialect, read: Read): IndexRange[] {
  const elements = elementWalk(read);
  const split = elements ?? (read.page.style === "page" ? undefined : splitCondition(read));
  const unsplit = read.conditions.filter((condition) => condition !== split);
  const shared = sharedConditions(dialect, read, unsplit, elements);
  const ranges = beyondPosition(dialect, read, elements && "i");
  // Without an index in the order of the page, each range would read all rows that meet the conditions. The index of a
  // single sort is in the order of the page, whatever the conditions are.
  const isWalk = ranges.length === 1 || read.sort.length === 1 || isIndexed(read);
  const beyond = isWalk ? ranges : [{ conditions: [beyondPositionOnce(dialect, read)], fixed: [] }];
  const branches = split ? split.values.map((_, index) => [oneValue(dialect, read, split, index)]) : [[]];
  return branches.flatMap((branch) => beyond.map((range) => within([...branch, ...shared], range)));
}

/** The conditions of all ranges, on the columns of the index where that has them. */
function sharedConditions(
  dialect: Dialect,
  read: Read,
  shared: readonly Condition[],
  elements: Comparison | undefined,
): Expression[] {
  const inRange = elements ? shared.filter((each) => isInElementRange(read, each)) : [];
  const others = shared.filter((each) => !inRange.includes(each as Comparison));
  return [
    ...conditionsOf(dialect, "i", read.conditions, { subset: inRange }),
    ...conditionsOf(dialect, "r", read.conditions, { subset: others }),
  ];
}

/** The filter with several values that gets one range for each of them. */
function splitCondition(read: Read): Comparison | undefined {
  // Without an index for it, each range would be a walk along the whole index of the sort.
  if (!isIndexed(read)) return undefined;
  return read.conditions
    .filter(isComparison)
    .find(
      ({ attribute, operator, values }) =>
        operator === "in" &&
        values.length > 1 &&
        values.length <= maxSeparateValues &&
        attribute.name !== "id" &&
        !attribute.statusRules,
    );
}

function oneValue(dialect: Dialect, read: Read, condition: Comparison, index: number): Expression {
  const { attribute, values } = condition;
  const compared = attribute.element ?? attribute;
  const column = attribute.element ? walkedElement : sql.ref(`r.${attribute.column}`);
  if (values[index] === null) return sql`${column} is null`;
  const value = boundValue(dialect, compared, getConditions, read.conditions.indexOf(condition), index);
  return sql`${column} = ${value}`;
}

/** The ranges of an index that serves these conditions of the page, and no others. */
export function walkRanges(dialect: Dialect, read: Read, walked: readonly Condition[]): IndexRange[] {
  const elements = elementWalk(read);
  const unsplit = walked.filter((condition) => condition !== elements);
  const one = elements ? [oneValue(dialect, read, elements, 0)] : [];
  const shared = [...one, ...sharedConditions(dialect, read, unsplit, elements)];
  return beyondPosition(dialect, read, elements && "i").map((beyond) => within(shared, beyond));
}

/** The condition that a row is beyond the position of the page, as one condition for all ranges. */
export function beyondPositionOnce(dialect: Dialect, read: Read): Expression {
  const ranges = beyondPosition(dialect, read).map(({ conditions }) => all(conditions));
  return ranges.length === 1 ? ranges[0]! : sql`(${sql.join(ranges, sql` or `)})`;
}

/** All of the conditions as one. */
export function all(conditions: readonly Expression[]): Expression {
  return conditions.length === 0 ? sql`1 = 1` : sql`${sql.join(conditions, sql` and `)}`;
}

/** The part of a range that meets further conditions. */
function within(
  conditions: readonly Expression[],
  range: IndexRange,
  fixed: readonly Attribute[] = [],
): IndexRange {
  return { conditions: [...conditions, ...range.conditions], fixed: [...fixed, ...range.fixed] };
}

/** A column that rows are sorted by, with its value in the position. */
interface PositionKey {
  readonly column: Expression;
  readonly value: Expression;
  /** The ordered choice whose rank it is, if SQLite has to be told what it knows of columns. */
  readonly ranked: Attribute | undefined;
  readonly isNull: boolean;
  readonly isNullable: boolean;
  readonly isDescending: boolean;
}

/** The conditions of rows beyond the position of the page, one list for each range. */
function beyondPosition(dialect: Dialect, read: Read, alias = "r"): IndexRange[] {
  const { page } = read;
  if (page.style !== "cursor" || !page.position) return [{ conditions: [], fixed: [] }];
  return beyondKeys(positionKeys(dialect, read, page.position, alias));
}

function positionKeys(dialect: Dialect, read: Read, { values }: Position, alias: string): PositionKey[] {
  const keys = read.sort.map(
    ({ attribute, isDescending }, index): PositionKey => ({
      column: sortedValue(alias, attribute),
      value: positionValue(dialect, read, index),
      ranked: dialect.name === "sqlite" && orderedChoices(attribute.field) ? attribute : undefined,
      isNull: values[index] === null,
      isNullable: attribute.isNullable,
      isDescending: isDescending !== isReversed(read),
    }),
  );
  const id: PositionKey = {
    column: sql.ref(`${alias}.id`),
    value: parameter((input: ReadInput<Read>) => positionOf(input).id, "id in the cursor"),
    ...{ ranked: undefined, isNull: false, isNullable: false, isDescending: keys.at(-1)!.isDescending },
  };
  return [...keys, id];
}

/** The value of a key of the sort in the position of the page. */
export function positionValue(dialect: Dialect, { sort }: Read, index: number): Expression {
  const { attribute } = sort[index]!;
  return parameter(
    (input: ReadInput<Read>) => boundSortValue(dialect, attribute, positionOf(input).values[index]),
    `${attribute.name} in the cursor`,
  );
}

/**
 * The ranges of rows beyond a position in the order of the keys. Keys of one direction are compared together, as a row
 * value, up to the first null; each further range holds the rows that equal the position in some of the first keys and
 * are beyond it in the next one. Nulls count as smallest: they come first in ascending order and last in descending
 * order.
 */
function beyondKeys(keys: readonly PositionKey[]): IndexRange[] {
  const [first] = keys;
  if (!first) return [];
  const { column, isDescending } = first;
  if (first.isNull) {
    const equal = beyondKeys(keys.slice(1)).map((range) =>
      within([sql`${column} is null`], range, fixedIn([first])),
    );
    return isDescending ? equal : [...equal, { conditions: [sql`${column} is not null`], fixed: [] }];
  }
  const end = keys.findIndex((key) => key.isNull || key.isDescending !== isDescending);
  const run = end < 0 ? keys : keys.slice(0, end);
  const equalBefore = (index: number): Expression[] =>
    run.slice(0, index).map((key) => sql`${key.column} = ${key.value}`);
  const nulls = run.flatMap((key, index): IndexRange[] => {
    if (!isDescending || !key.isNullable) return [];
    const conditions = [...equalBefore(index), sql`${key.column} is null`];
    return [{ conditions, fixed: fixedIn(run.slice(0, index + 1)) }];
  });
  const rest = beyondKeys(keys.slice(run.length)).map((range) =>
    within(equalBefore(run.length), range, fixedIn(run)),
  );
  return [{ conditions: [compared(run, isDescending)], fixed: [] }, ...nulls, ...rest];
}

function fixedIn(keys: readonly PositionKey[]): Attribute[] {
  return keys.flatMap(({ ranked }) => ranked ?? []);
}

/** `(r.title, r.id) > (?, ?)`. A row value is compared from left to right up to the first difference. */
function compared(run: readonly PositionKey[], isDescending: boolean): Expression {
  const beyond = sql.raw(isDescending ? "<" : ">");
  const [columns, values] = [run.map(({ column }) => column), run.map(({ value }) => value)];
  if (run.length === 1) return sql`${columns[0]} ${beyond} ${values[0]}`;
  const row = sql`(${sql.join(columns)}) ${beyond} (${sql.join(values)})`;
  // SQLite finds the begin of a row value in an index of columns only, and not in one of expressions.
  return run[0]!.ranked ? sql`${columns[0]} ${beyond}= ${values[0]} and ${row}` : row;
}

function positionOf({ read: { page } }: ReadInput<Read>): Position {
  if (page.style === "cursor" && page.position) return page.position;
  throw new Error("a statement for a position was bound to a read without one");
}

/** Whether rows are read in the reverse order of their collection, as a backward page is. */
export function isReversed({ page }: Read): boolean {
  return page.style === "cursor" && page.isBackward;
}
