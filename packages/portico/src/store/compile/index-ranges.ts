// The ranges of an index that a page of rows lies in. Rows are in order only within one range, so a page over several
// ranges merges them.

import { sql } from "kysely";
import { type Comparison, type Condition, isComparison, maxSeparateValues } from "../../query/condition.ts";
import type { Position, Read } from "../../query/read.ts";
import type { Dialect } from "../dialect.ts";
import { parameter } from "../statement.ts";
import { boundValue, conditionsOf } from "./condition.ts";
import { type Expression, getConditions, type ReadInput } from "./input.ts";
import { isIndexed } from "./page-index.ts";

/** The conditions of one range, in addition to the tenant's. */
export type IndexRange = readonly Expression[];

/**
 * The ranges of the index in which the page lies, mostly one. Nulls have a range of their own, and so has each value of
 * a filter with several values. A numbered page has one range, because rows are counted across all values.
 */
export function rangesOf(dialect: Dialect, read: Read): IndexRange[] {
  const split = read.page.style === "page" ? undefined : splitCondition(read);
  const unsplit = read.conditions.filter((condition) => condition !== split);
  const shared = conditionsOf(dialect, "r", read.conditions, { subset: unsplit });
  const branches = split ? split.values.map((_, index) => [oneValue(dialect, read, split, index)]) : [[]];
  return branches.flatMap((branch) =>
    beyondPosition(dialect, read).map((beyond) => [...branch, ...shared, ...beyond]),
  );
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
        !attribute.statusRules,
    );
}

function oneValue(dialect: Dialect, read: Read, condition: Comparison, index: number): Expression {
  const { attribute, values } = condition;
  const column = sql.ref(`r.${attribute.column}`);
  if (values[index] === null) return sql`${column} is null`;
  const value = boundValue(dialect, attribute, getConditions, read.conditions.indexOf(condition), index);
  return sql`${column} = ${value}`;
}

/** The ranges of an index that serves these conditions of the page, and no others. */
export function walkRanges(dialect: Dialect, read: Read, walked: readonly Condition[]): IndexRange[] {
  const shared = conditionsOf(dialect, "r", read.conditions, { subset: walked });
  return beyondPosition(dialect, read).map((beyond) => [...shared, ...beyond]);
}

/** The conditions of rows beyond the position of the page, one list for each range. */
export function beyondPosition(dialect: Dialect, read: Read): IndexRange[] {
  const { sort, page } = read;
  if (page.style !== "cursor" || !page.position) return [[]];
  const isDescending = isTraversedDescending(read);
  const column = sql.ref(`r.${sort.attribute.column}`);
  const value = parameter(
    (input: ReadInput<Read>) => dialect.encode(sort.attribute, positionOf(input).value),
    `${sort.attribute.name} in the cursor`,
  );
  const rowId = parameter((input: ReadInput<Read>) => positionOf(input).id, "id in the cursor");
  const beyond = sql.raw(isDescending ? "<" : ">");
  // Nulls count as smallest: they come first in ascending order and last in descending order.
  if (page.position.value === null) {
    const restOfNulls = [sql`${column} is null`, sql`r.id ${beyond} ${rowId}`];
    return isDescending ? [restOfNulls] : [restOfNulls, [sql`${column} is not null`]];
  }
  const rest = [sql`(${column}, r.id) ${beyond} (${value}, ${rowId})`];
  return sort.attribute.isNullable && isDescending ? [rest, [sql`${column} is null`]] : [rest];
}

function positionOf({ read: { page } }: ReadInput<Read>): Position {
  if (page.style === "cursor" && page.position) return page.position;
  throw new Error("a statement for a position was bound to a read without one");
}

/** Whether rows are read in descending order: a backward page reverses the order of its collection. */
export function isTraversedDescending({ sort, page }: Read): boolean {
  return sort.isDescending !== (page.style === "cursor" && page.isBackward);
}
