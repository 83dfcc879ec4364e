// How much a caller may ask for. Each bound is checked before the work that it bounds.

import { type FieldShape, standardMaxItems } from "../declare/field.ts";
import type { Attribute } from "../declare/model.ts";
import { Problem } from "../errors.ts";
import type { GraphqlLimits } from "./bounds.ts";
import { isIntrospection } from "./introspection.ts";
import { connectionLimit, limitOf } from "./list-arguments.ts";
import type { Inside, Selected } from "./selected.ts";

/** @throws Problem `validation_error` that names the bound, the value and the limit */
export function requireWithin(bound: keyof GraphqlLimits, value: number, limits: GraphqlLimits): void {
  if (value > limits[bound]) throw beyond(bound, limits, String(value));
}

/** @param value what there is of it; "more than" the limit where nobody counted to the end */
export function beyond(
  bound: keyof GraphqlLimits,
  limits: GraphqlLimits,
  value = `more than ${limits[bound]}`,
): Problem {
  const message = `The ${ofDocument.has(bound) ? "document" : "operation"} has ${names[bound]} ${value}; the limit is ${limits[bound]}.`;
  return new Problem("validation_error", message, [{ field: bound, issue: "max" }]);
}

const ofDocument: ReadonlySet<keyof GraphqlLimits> = new Set([
  "characters",
  "operations",
  "fragments",
  "name",
]);

const names: Readonly<Record<keyof GraphqlLimits, string>> = {
  characters: "characters:",
  tokens: "tokens:",
  operations: "operations:",
  fragments: "fragments:",
  name: "a name with a length of",
  fields: "fields:",
  depth: "a depth of",
  nesting: "selections inside one another:",
  comparisons: "pairs of fields in one place:",
  cost: "a cost of",
  size: "a size of",
  names: "characters of names in its answer:",
};

/** What a field of introspection counts, in rows. */
const introspectionCost = 100;

/** The most rows that the fields could answer with: lists count as full. */
export function costOf(fields: readonly Selected[]): number {
  let cost = 0;
  for (const selected of fields) cost += costOfField(selected);
  return cost;
}

function costOfField(selected: Selected): number {
  const { meaning, inside } = selected;
  switch (meaning?.kind) {
    case "one":
    case "row":
    case "node":
    case "edgeNode":
    case "create":
    case "change":
    case "remove":
    case "act":
    case "event":
      return 1 + largest(inside, costOf);
    case "edges":
      return largest(inside, costOf);
    case "page":
      return timesOf(selected) * Math.max(1, largest(inside, costOf));
    case "first":
    case "list":
    case "search":
      return timesOf(selected) * (1 + largest(inside, costOf));
    case "value":
    case "pageInfo":
    case "pageFact":
    case "edgeCursor":
      return 0;
    case undefined:
      return isIntrospection(selected) ? introspectionCost : 0;
  }
}

/** How many values a field can have. */
function timesOf({ meaning, arguments: given }: Selected): number {
  switch (meaning?.kind) {
    case "first":
    case "search":
      return limitOf(given.limit);
    case "list":
      return limitOf(given.first);
    case "page":
      return connectionLimit(given);
    default:
      return 1;
  }
}

function largest(inside: readonly Inside[], measure: (fields: readonly Selected[]) => number): number {
  return Math.max(0, ...inside.map(({ fields }) => measure(fields)));
}

/** The quotes, colon and comma of a member. */
const punctuation = 4;

/** The characters that the names of an answer could have. */
export function namesOf(fields: readonly Selected[]): number {
  let size = 0;
  for (const selected of fields)
    size += selected.name.length + punctuation + timesOf(selected) * largest(selected.inside, namesOf);
  return size;
}

/** What a text or JSON counts whose declaration sets no end to it. */
const endless = 100_000;

/** The characters that the texts of an answer could have. */
export function sizeOf(fields: readonly Selected[]): number {
  let size = 0;
  for (const selected of fields) {
    const { meaning, inside } = selected;
    size +=
      meaning?.kind === "value" ? lengthOf(meaning.attribute) : timesOf(selected) * largest(inside, sizeOf);
  }
  return size;
}

function lengthOf({ field }: Attribute): number {
  if (field.kind === "list")
    return Math.min(endless, (field.options.max ?? standardMaxItems) * lengthOfField(field.item));
  return lengthOfField(field);
}

function lengthOfField(field: FieldShape): number {
  if (field.kind === "json") return endless;
  return field.kind === "text" ? (field.options.max ?? endless) : 0;
}
