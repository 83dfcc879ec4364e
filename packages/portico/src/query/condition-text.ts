// Conditions as text, for people who ask why a row is hidden.

import { type Comparison, type Condition, isComparison, type Value } from "./condition.ts";

const symbols = {
  gte: ">=",
  gt: ">",
  lte: "<=",
  lt: "<",
  contains: "contains",
  startsWith: "starts with",
} as const;
const maxShownValues = 5;

/**
 * @example
 * conditionsText(conditions); // 'status = "open" and project { some members { userId = "user_01k..." } }'
 */
export function conditionsText(conditions: readonly Condition[]): string {
  return conditions.length === 0 ? "true" : conditions.map(conditionText).join(" and ");
}

function conditionText(condition: Condition): string {
  if (isComparison(condition)) return comparisonText(condition);
  const { operator, conditions } = condition;
  switch (operator) {
    case "is":
      return `${condition.attribute.reference!.name} { ${conditionsText(conditions)} }`;
    case "some":
      return `some ${condition.attribute.links?.name ?? condition.resource.plural} { ${conditionsText(conditions)} }`;
    case "not":
      return `not (${conditionsText(conditions)})`;
    case "and":
      return conditions.length === 0 ? "true" : `(${conditionsText(conditions)})`;
    case "or":
      return conditions.length === 0 ? "false" : `(${conditions.map(conditionText).join(" or ")})`;
  }
}

function comparisonText({ attribute: { name }, operator, values }: Comparison): string {
  if (operator !== "in" && operator !== "notIn")
    return `${name} ${symbols[operator]} ${valueText(values[0]!)}`;
  const isIn = operator === "in";
  if (values.length === 0) return isIn ? "false" : "true";
  const [only] = values;
  if (values.length > 1) {
    const shown = values.slice(0, maxShownValues).map(valueText);
    const more = values.length > maxShownValues ? ", …" : "";
    return `${name} ${isIn ? "in" : "not in"} (${shown.join(", ")}${more})`;
  }
  if (only === null) return `${name} is ${isIn ? "" : "not "}null`;
  return `${name} ${isIn ? "=" : "!="} ${valueText(only!)}`;
}

function valueText(value: Value): string {
  return JSON.stringify(value);
}
