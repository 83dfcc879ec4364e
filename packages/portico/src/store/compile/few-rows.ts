// Finds the rows that meet conditions by an index, where they are few, with a bound on what is read: as a statement of its
// own, or as part of the statement of a list.

import { sql } from "kysely";
import type { Attribute, ResourceModel } from "../../model/model.ts";
import {
  type CollectionCondition,
  type Comparison,
  type Condition,
  isComparison,
  maxFewIds,
} from "../../query/condition.ts";
import type { Read } from "../../query/read.ts";
import type { Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { compile } from "../statement.ts";
import { orderBy } from "./columns.ts";
import { conditionsOf } from "./condition.ts";
import { all, beyondPositionOnce, isReversed } from "./index-ranges.ts";
import { type Expression, type GetFrom, isOfTenant, type ReadInput, tenantOf } from "./input.ts";
import { limitOf } from "./row-limit.ts";
import { type FoundRows, pageColumnsOf, type SearchAccess, table } from "./search-access.ts";

/** The rows of a range of an index, and what they are asked for. */
export interface FewRows {
  readonly resource: ResourceModel;
  /** The attribute whose values are returned: the id, or a reference. */
  readonly column: Attribute;
  /** The comparison that the index serves (`isAnchor`), first, and the other conditions. */
  readonly conditions: readonly [anchor: Comparison, ...others: Condition[]];
  /** Whether the list that they are found for is that of an anonymous caller. */
  readonly isAnonymous?: boolean;
}

/** Whether an index of the resource finds the rows that meet a condition, and these alone. */
export function isAnchor({ indexes }: ResourceModel, condition: Condition): condition is Comparison {
  if (!isComparison(condition) || condition.operator !== "in" || condition.values.includes(null))
    return false;
  const { attribute } = condition;
  return (
    attribute.name === "id" ||
    indexes.some(({ columns: [first] }) => first!.attribute === attribute && !first!.isRanked)
  );
}

/**
 * The first rows of the range, as the value of the column and whether the row meets the other conditions. They are
 * checked on these rows only.
 *
 * @param maxRows one row more is returned, which shows that there are more
 */
export function compileFewRows(
  dialect: Dialect,
  { resource, column, conditions }: FewRows,
  maxRows: number,
): Statement<ReadInput<FewRows>> {
  const [anchor, ...others] = conditions;
  const [inRange] = conditionsOf(dialect, "r", conditions, { subset: [anchor] });
  const checked = conditionsOf(dialect, "r", conditions, { subset: others });
  return compile(
    dialect.builder,
    sql`select ${sql.ref(`r.${column.column}`)}, case when ${all(checked)} then 1 else 0 end, ${uncovered("r", resource)}
      from ${sql.table(resource.table)} as r where ${isOfTenant("r")} and ${inRange} limit ${sql.lit(maxRows + 1)}`,
    { mayScan: others.some(looksAtCollections), tenantOf },
  );
}

/**
 * A column that no index has, which is never null. SQLite would rather scan an index that has all columns of a statement
 * than look up rows by the one that the values are in.
 */
function uncovered(alias: string, resource: ResourceModel): Expression {
  return sql.ref(`${alias}.${resource.attribute.get("updatedAt")!.column}`);
}

/** Whether a condition may read many related rows of each row. */
function looksAtCollections(condition: Condition): boolean {
  if (isComparison(condition)) return false;
  return condition.operator === "some" || condition.conditions.some(looksAtCollections);
}

/** A condition that a row refers to those of a list, where an index finds the referring rows. */
interface FewReferring {
  readonly condition: CollectionCondition;
  /** The comparison that the index serves. */
  readonly anchor: Comparison;
}

/** The first condition of a list whose rows its statement can find first, if they are few. */
export function fewReferring({ conditions }: Pick<Read, "conditions">): FewReferring | undefined {
  for (const condition of conditions) {
    if (condition.operator !== "some" || condition.attribute.links) continue;
    if (condition.conditions.some(looksAtCollections)) continue;
    const { resource } = condition;
    const anchors = condition.conditions.filter(
      (each): each is Comparison => isAnchor(resource, each) && each.values.length <= maxFewIds,
    );
    const anchor = anchors.find(({ attribute }) => attribute.reference || attribute.unique) ?? anchors[0];
    if (anchor) return { condition, anchor };
  }
  return undefined;
}

/**
 * The rows of a page that meet the condition `fewReferring`, which are found first. The page is complete if the index has
 * few rows with the values of the anchor.
 */
export function few(dialect: Dialect, read: Read, access: SearchAccess): FoundRows {
  const { condition, anchor } = fewReferring(read)!;
  const { resource, attribute, conditions } = condition;
  const index = read.conditions.indexOf(condition);
  const getConditions: GetFrom<readonly Condition[]> = (input) =>
    // A statement is bound to conditions of the shape it was compiled from.
    (input.read.conditions[index] as CollectionCondition).conditions;
  const others = conditions.filter((each) => each !== anchor);
  const [inRange] = conditionsOf(dialect, "f", conditions, { subset: [anchor], getConditions });
  const checked = conditionsOf(dialect, "f", conditions, { subset: others, getConditions });
  const rows = (columns: Expression): Expression =>
    sql`select ${columns} from ${sql.table(resource.table)} as f where ${isOfTenant("f")} and ${inRange} limit ${sql.lit(maxFewIds + 1)}`;
  const isMet = sql`case when ${all(checked)} then 1 else 0 end`;
  const found = rows(
    sql`${sql.ref(`f.${attribute.column}`)} as id, ${isMet} as met, ${uncovered("f", resource)} as uncovered`,
  );
  const ids = sql`select f.id from (${found}) as f where f.met = 1 and f.uncovered is not null`;
  const subset = read.conditions.filter((each) => each !== condition);
  const matching = [
    isOfTenant("r"),
    dialect.isOneOfRows(sql`r.id`, ids),
    ...conditionsOf(dialect, "r", read.conditions, { subset }),
    beyondPositionOnce(dialect, read),
  ];
  const order = orderBy(dialect, "r", read.sort, isReversed(read), true);
  return {
    rows: sql`(select ${pageColumnsOf(dialect, read, access)} from ${table(read)} as r where ${all(matching)}
      order by ${order} limit ${limitOf(dialect, read)}) as r`,
    isComplete: () =>
      sql`case when (select count(*) from (${rows(sql`f.id`)}) as f) > ${sql.lit(maxFewIds)} then 0 else 1 end`,
  };
}
