// Filters of callers as conditions.

import type { FilterModel, FilterOperator, RelatedRows } from "../model/model.ts";
import type { Condition, Value } from "./condition.ts";
import { searchOf } from "./search-condition.ts";

/** The condition of a filter on the row itself or on related rows. The values are those that the field can have. */
export function filterCondition(
  { attribute, related }: FilterModel,
  operator: FilterOperator,
  values: readonly Value[],
): Condition {
  const condition = compared(attribute, operator, values);
  return related ? relatedCondition(related, [condition]) : condition;
}

/** The condition that related rows meet conditions. */
export function relatedCondition(
  { kind, reference, resource }: RelatedRows,
  conditions: readonly Condition[],
): Condition {
  return kind === "is"
    ? { attribute: reference, operator: "is", conditions }
    : { attribute: reference, operator: "some", resource, conditions };
}

function compared(
  attribute: FilterModel["attribute"],
  operator: FilterOperator,
  values: readonly Value[],
): Condition {
  switch (operator) {
    case "eq":
    case "in":
      return { attribute, operator: "in", values };
    case "ne":
      return { attribute, operator: "notIn", values };
    case "isNull":
      return { attribute, operator: values[0] ? "in" : "notIn", values: [null] };
    case "contains":
    case "startsWith":
      return searchOf(attribute, operator, String(values[0]));
    default:
      return { attribute, operator, values };
  }
}
