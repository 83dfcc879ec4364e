// Evaluates conditions on a row in memory, with the same result as in the database.

import { orderedChoices } from "../declare/field.ts";
import { compareDecimals } from "../lib/decimal.ts";
import type { Attribute } from "../model/model.ts";
import {
  type Comparison,
  type Condition,
  isComparison,
  type RelatedCondition,
  type Value,
} from "../query/condition.ts";
import type { RowValues } from "../query/write.ts";

/** Undefined where the row does not decide: it lacks a value, or other rows have to be read. */
export type Verdict = boolean | undefined;

/** Decides a condition on rows that are related to a row. */
export type DecideRelated = (condition: RelatedCondition) => Verdict;

const undecided: DecideRelated = () => undefined;

/** Whether a row meets all conditions. */
export function evaluateAll(
  conditions: readonly Condition[],
  row: RowValues,
  decideRelated: DecideRelated = undecided,
): Verdict {
  let verdict: Verdict = true;
  for (const condition of conditions) {
    const each = evaluate(condition, row, decideRelated);
    if (each === false) return false;
    if (each === undefined) verdict = undefined;
  }
  return verdict;
}

function evaluate(condition: Condition, row: RowValues, decideRelated: DecideRelated): Verdict {
  if (isComparison(condition)) return compareWith(condition, row);
  switch (condition.operator) {
    case "is":
      // A reference to no row needs no other row to be read.
      return Object.hasOwn(row, condition.attribute.name) && row[condition.attribute.name] === null
        ? false
        : decideRelated(condition);
    case "some":
      return decideRelated(condition);
    case "and":
      return evaluateAll(condition.conditions, row, decideRelated);
    case "not":
      return negate(evaluateAll(condition.conditions, row, decideRelated));
    case "or":
      return evaluateAny(condition.conditions, row, decideRelated);
  }
}

function evaluateAny(
  conditions: readonly Condition[],
  row: RowValues,
  decideRelated: DecideRelated,
): Verdict {
  let verdict: Verdict = false;
  for (const condition of conditions) {
    const each = evaluate(condition, row, decideRelated);
    if (each === true) return true;
    if (each === undefined) verdict = undefined;
  }
  return verdict;
}

function negate(verdict: Verdict): Verdict {
  return verdict === undefined ? undefined : !verdict;
}

function compareWith({ attribute, operator, values }: Comparison, row: RowValues): Verdict {
  // A field may be called `constructor`, which every object inherits.
  if (!Object.hasOwn(row, attribute.name)) return undefined;
  if (attribute.element) {
    const isMet = hasElement(row[attribute.name], values);
    return operator === "in" ? isMet : !isMet;
  }
  // A value of a compared attribute is never an object.
  const value = row[attribute.name] as Value;
  if (operator === "in") return values.includes(value);
  if (operator === "notIn") return !values.includes(value);
  if (value === null) return false;
  const other = values[0]!;
  if (operator === "contains") return String(value).includes(String(other));
  if (operator === "startsWith") return String(value).startsWith(String(other));
  const order = compare(attribute, value, other);
  switch (operator) {
    case "gte":
      return order >= 0;
    case "gt":
      return order > 0;
    case "lte":
      return order <= 0;
    case "lt":
      return order < 0;
  }
}

/** Whether a list has one of the values. Null stands for a list without elements. */
function hasElement(list: unknown, values: readonly Value[]): boolean {
  const elements: readonly unknown[] = Array.isArray(list) ? list : [];
  return values.some((value) => (value === null ? elements.length === 0 : elements.includes(value)));
}

/** Compares text byte by byte, as both databases do, unless the field has another order. */
function compare({ field }: Attribute, one: NonNullable<Value>, other: NonNullable<Value>): number {
  const choices = orderedChoices(field);
  if (choices) return choices.indexOf(String(one)) - choices.indexOf(String(other));
  if (field.kind === "decimal") return compareDecimals(String(one), String(other));
  if (typeof one === "string" && typeof other === "string")
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return Number(one) - Number(other);
}
