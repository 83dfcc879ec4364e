// Limits of an operation. Each is checked before the work that it limits.

import { Problem } from "../../errors.ts";
import type { CollectedField, SelectionSet } from "./collect-fields.ts";
import type { GraphqlLimits } from "./graphql-limits.ts";

/** @throws Problem `validation_error` that names the limit, the value and the maximum */
export function requireWithin(limit: keyof GraphqlLimits, value: number, limits: GraphqlLimits): void {
  if (value > limits[limit]) throw limitExceeded(limit, limits, String(value));
}

/** @param value by default "more than" the limit, for what is not counted to the end */
export function limitExceeded(
  limit: keyof GraphqlLimits,
  limits: GraphqlLimits,
  value = `more than ${limits[limit]}`,
): Problem {
  const subject = documentLimits.has(limit) ? "document" : "operation";
  const message = `The ${subject} has ${descriptions[limit](value)}; the limit is ${limits[limit]}.`;
  return new Problem("validation_error", message, [{ field: limit, issue: "max" }]);
}

const documentLimits: ReadonlySet<keyof GraphqlLimits> = new Set([
  "characters",
  "operations",
  "fragments",
  "name",
]);

const descriptions: Readonly<Record<keyof GraphqlLimits, (value: string) => string>> = {
  characters: (value) => `${value} characters`,
  tokens: (value) => `${value} tokens`,
  operations: (value) => `${value} operations`,
  fragments: (value) => `${value} fragments`,
  name: (value) => `a name of ${value} characters`,
  fields: (value) => `${value} fields`,
  depth: (value) => `a depth of ${value}`,
  nesting: (value) => `${value} nested selection sets`,
  comparisons: (value) => `${value} pairs of fields to compare`,
  cost: (value) => `a cost of ${value}`,
  mutations: (value) => `${value} mutations`,
  size: (value) => `a size of ${value} characters`,
  names: (value) => `${value} characters of names in its result`,
};

/** Maximum number of rows in the result. Lists count as full. */
export function costOf(fields: readonly CollectedField[]): number {
  let cost = 0;
  for (const { mapping, arguments: args, selectionSets } of fields)
    cost += mapping.cost(maxOf(selectionSets, costOf), args);
  return cost;
}

/** Maximum number of characters of the strings in the result. */
export function sizeOf(fields: readonly CollectedField[]): number {
  let size = 0;
  for (const { mapping, arguments: args, selectionSets } of fields)
    size += mapping.maxLength + mapping.maxItems(args) * maxOf(selectionSets, sizeOf);
  return size;
}

/** The quotes, colon and comma of a member. */
const punctuationLength = 4;

/** Maximum number of characters of the names in the result. */
export function namesOf(fields: readonly CollectedField[]): number {
  let length = 0;
  for (const { responseName, mapping, arguments: args, selectionSets } of fields)
    length +=
      responseName.length + punctuationLength + mapping.maxItems(args) * maxOf(selectionSets, namesOf);
  return length;
}

/** A value has one of the types, so the largest selection set counts. */
function maxOf(
  selectionSets: readonly SelectionSet[],
  measure: (fields: readonly CollectedField[]) => number,
): number {
  let max = 0;
  for (const { fields } of selectionSets) max = Math.max(max, measure(fields));
  return max;
}
