// Conditions on rows, as one tree for filters, policies and hooks. The store compiles them into the SQL of a read, and the
// engine evaluates them on rows in memory. Their logic has two values: a comparison with null is true or false.

import type { Attribute, ResourceModel } from "../model/model.ts";

/** A value of a column; timestamps are ISO texts. */
export type Value = string | number | boolean | null;

/** A condition on a row. */
export type Condition = Comparison | ReferenceCondition | CollectionCondition | Combination;

export type Operator = "in" | "notIn" | "gte" | "gt" | "lte" | "lt" | "contains" | "startsWith";

/**
 * A comparison of one attribute. `in` is true for any of the values, of which null means no value; without values it is
 * never true. `notIn` is its complement. The other operators have one value, which is not null, and are never true for
 * null. Texts are compared byte by byte. A list is `in` values if any of its elements is, and null means that it has no
 * element; it has no other operators.
 */
export interface Comparison {
  readonly attribute: Attribute;
  readonly operator: Operator;
  readonly values: readonly Value[];
}

/** The row that a reference points to exists and meets all of the conditions. */
export interface ReferenceCondition {
  readonly attribute: Attribute;
  readonly operator: "is";
  readonly conditions: readonly Condition[];
}

/** A row that refers to this one, or one of a many-to-many field, exists and meets all of the conditions. */
export interface CollectionCondition {
  /** The reference, an attribute of the other row; or the many-to-many field, an attribute of this one. */
  readonly attribute: Attribute;
  readonly operator: "some";
  readonly resource: ResourceModel;
  readonly conditions: readonly Condition[];
}

/** All of the conditions are met, any of them is, or not all of them are. */
export interface Combination {
  readonly operator: "and" | "or" | "not";
  readonly conditions: readonly Condition[];
}

export type RelatedCondition = ReferenceCondition | CollectionCondition;

export function isComparison(condition: Condition): condition is Comparison {
  return "values" in condition;
}

export function isRelated(condition: Condition): condition is RelatedCondition {
  return condition.operator === "is" || condition.operator === "some";
}

/** The resource of the related rows. */
export function relatedResource(condition: RelatedCondition): ResourceModel {
  return condition.operator === "is" ? condition.attribute.reference!.target : condition.resource;
}

/** Whether the values of a row decide the conditions, without any other row. */
export function areDecidedByRow(conditions: readonly Condition[]): boolean {
  return conditions.every(
    (condition) =>
      isComparison(condition) || (!isRelated(condition) && areDecidedByRow(condition.conditions)),
  );
}

/** The condition that no row meets. */
export const never: Condition = Object.freeze({ operator: "or", conditions: Object.freeze([]) });
/** The condition that every row meets. */
export const always: Condition = Object.freeze({ operator: "and", conditions: Object.freeze([]) });

/** One condition for several that must all be met. */
export function allOf(conditions: readonly Condition[]): Condition {
  const [only] = conditions;
  return only && conditions.length === 1 ? only : { operator: "and", conditions };
}

/** With more values than this, `in` is one condition instead of one index range for each value. */
export const maxSeparateValues = 20;

/** At most this many rows are read by their ids before they are sorted. */
export const maxFewIds = 50;

/** Whether a comparison leaves a few rows, which are read by their ids. */
export function isOfFewIds({ attribute, operator, values }: Comparison): boolean {
  return attribute.name === "id" && operator === "in" && values.length <= maxFewIds && !values.includes(null);
}

/**
 * Whether the values of a comparison are one parameter of a statement, so that it does not grow with their number. SQLite
 * does not parse every fraction in JSON as the number that JavaScript wrote.
 */
export function isBoundAsList({ attribute, values }: Comparison): boolean {
  if (attribute.name === "id" && values.length > 1) return true;
  return values.length > maxSeparateValues && attribute.field.kind !== "number";
}

/** Identifies conditions apart from their values: conditions of one shape share a statement. */
export function conditionShape(conditions: readonly Condition[]): string {
  let shape = "";
  for (const condition of conditions) {
    shape += isComparison(condition)
      ? `${condition.attribute.name} ${condition.operator}${valuesShape(condition)},`
      : `${subjectOf(condition)}${condition.operator}(${conditionShape(condition.conditions)}),`;
  }
  return shape;
}

/** Null is part of the statement and not a bound value. */
function valuesShape(comparison: Comparison): number | string {
  const { values } = comparison;
  if (isBoundAsList(comparison)) return values.includes(null) ? "*-" : "*";
  return values.includes(null) ? values.map((value) => (value === null ? "-" : "?")).join("") : values.length;
}

/** Texts that identify conditions with their values, in an order that does not depend on theirs. */
export function conditionKeys(conditions: readonly Condition[]): string[] {
  return conditions
    .map((condition) => {
      if (!isComparison(condition))
        return JSON.stringify([
          subjectOf(condition),
          condition.operator,
          ...conditionKeys(condition.conditions),
        ]);
      const { attribute, operator, values } = condition;
      return JSON.stringify([attribute.name, operator, ...[...values].sort()]);
    })
    .sort();
}

function subjectOf(condition: Exclude<Condition, Comparison>): string {
  if (condition.operator === "is") return `${condition.attribute.name} `;
  return condition.operator === "some" ? `${condition.resource.name}.${condition.attribute.name} ` : "";
}
