// Finds the rows that meet conditions by an index, where they are few, as one statement with a bound on what it reads.

import { sql } from "kysely";
import type { Attribute, ResourceModel } from "../../model/model.ts";
import { type Comparison, type Condition, isComparison } from "../../query/condition.ts";
import type { Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { compile } from "../statement.ts";
import { conditionsOf } from "./condition.ts";
import { all } from "./index-ranges.ts";
import { isOfTenant, type ReadInput, tenantOf } from "./input.ts";

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
  return attribute.name === "id" || indexes.some(({ columns: [first] }) => first!.attribute === attribute);
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
  // SQLite would rather scan an index that has all columns of the statement than look up rows by the one that the values
  // are in. The column at the end is in no such index.
  const { column: uncovered } = resource.attribute.get("updatedAt")!;
  return compile(
    dialect.builder,
    sql`select ${sql.ref(`r.${column.column}`)}, case when ${all(checked)} then 1 else 0 end, ${sql.ref(`r.${uncovered}`)}
      from ${sql.table(resource.table)} as r where ${isOfTenant("r")} and ${inRange} limit ${sql.lit(maxRows + 1)}`,
    { mayScan: others.some(looksAtCollections), tenantOf },
  );
}

/** Whether a condition may read many related rows of each row. */
function looksAtCollections(condition: Condition): boolean {
  if (isComparison(condition)) return false;
  return condition.operator === "some" || condition.conditions.some(looksAtCollections);
}
