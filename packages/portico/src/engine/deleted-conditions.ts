// Conditions on deleted rows: they are met by the rows that met them before the deletion. What can no longer be determined
// counts against the caller, also where a condition must not be met.

import { isDetached } from "../model/deletion.ts";
import {
  always,
  type CollectionCondition,
  type Condition,
  isComparison,
  never,
  type ReferenceCondition,
} from "../query/condition.ts";

/**
 * Conditions that look at the rows deleted with a row, in place of rows that refer to it.
 * @param isNegated whether the caller sees the rows that do not meet them
 */
export function amongDeleted(conditions: readonly Condition[], isNegated = false): readonly Condition[] {
  return conditions.map((condition): Condition => {
    if (isComparison(condition)) return condition;
    switch (condition.operator) {
      case "is":
        return isNegated ? orMissing(condition) : condition;
      case "some":
        return condition.attribute.links
          ? amongLinked(condition, isNegated)
          : amongReferring(condition, isNegated);
      default: {
        const isInnerNegated = condition.operator === "not" ? !isNegated : isNegated;
        return { ...condition, conditions: amongDeleted(condition.conditions, isInnerNegated) };
      }
    }
  });
}

/** A deleted row does not keep the row that it refers to: what that was like is unknown once it is gone. */
function orMissing(condition: ReferenceCondition): Condition {
  const { attribute } = condition;
  const exists: Condition = { attribute, operator: "is", conditions: [] };
  const refers: Condition = { attribute, operator: "notIn", values: [null] };
  const isMissing: Condition = {
    operator: "and",
    conditions: [refers, { operator: "not", conditions: [exists] }],
  };
  return { operator: "or", conditions: [condition, isMissing] };
}

/** The rows of a many-to-many field are not deleted with the row; they may have been deleted softly since. */
function amongLinked(condition: CollectionCondition, isNegated: boolean): Condition {
  const { deletedRows } = condition.resource;
  if (!isNegated || !deletedRows) return condition;
  const conditions = amongDeleted(condition.conditions, isNegated);
  return { operator: "or", conditions: [condition, { ...condition, resource: deletedRows, conditions }] };
}

function amongReferring(condition: CollectionCondition, isNegated: boolean): Condition {
  const { resource, attribute } = condition;
  if (isDetached(resource, attribute)) return isNegated ? always : never;
  const conditions = amongDeleted(condition.conditions, isNegated);
  return { ...condition, resource: resource.deletedRows ?? resource, conditions };
}
