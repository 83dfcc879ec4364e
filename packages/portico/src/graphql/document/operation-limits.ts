// How much a caller may ask for. Each bound is checked before the work that it bounds.

import { type FieldShape, standardMaxItems } from "../../declare/field.ts";
import { Problem } from "../../errors.ts";
import type { Attribute } from "../../model/model.ts";
import { isIntrospection } from "../execute/introspection.ts";
import { clampLimit, connectionLimit } from "../schema/list-arguments.ts";
import type { CollectedField, Subselection } from "./collect-fields.ts";
import type { GraphqlLimits } from "./graphql-limits.ts";

/** @throws Problem `validation_error` that names the bound, the value and the limit */
export function requireWithin(bound: keyof GraphqlLimits, value: number, limits: GraphqlLimits): void {
  if (value > limits[bound]) throw limitExceeded(bound, limits, String(value));
}

/** @param value what there is of it; "more than" the limit where nobody counted to the end */
export function limitExceeded(
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
export function costOf(fields: readonly CollectedField[]): number {
  let cost = 0;
  for (const selected of fields) cost += costOfField(selected);
  return cost;
}

function costOfField(selected: CollectedField): number {
  const { mapping, subselections } = selected;
  switch (mapping?.kind) {
    case "one":
    case "row":
    case "node":
    case "edgeNode":
    case "create":
    case "update":
    case "delete":
    case "act":
    case "event":
      return 1 + largest(subselections, costOf);
    case "edges":
      return largest(subselections, costOf);
    case "page":
      return multiplierOf(selected) * Math.max(1, largest(subselections, costOf));
    case "first":
    case "list":
    case "search":
      return multiplierOf(selected) * (1 + largest(subselections, costOf));
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
function multiplierOf({ mapping, arguments: args }: CollectedField): number {
  switch (mapping?.kind) {
    case "first":
    case "search":
      return clampLimit(args.limit);
    case "list":
      return clampLimit(args.first);
    case "page":
      return connectionLimit(args);
    default:
      return 1;
  }
}

function largest(
  inside: readonly Subselection[],
  measure: (fields: readonly CollectedField[]) => number,
): number {
  return Math.max(0, ...inside.map(({ fields }) => measure(fields)));
}

/** The quotes, colon and comma of a member. */
const punctuation = 4;

/** The characters that the names of an answer could have. */
export function namesOf(fields: readonly CollectedField[]): number {
  let size = 0;
  for (const selected of fields)
    size +=
      selected.responseName.length +
      punctuation +
      multiplierOf(selected) * largest(selected.subselections, namesOf);
  return size;
}

/** What a text or JSON counts whose declaration sets no end to it. */
const unboundedLength = 100_000;

/** The characters that the texts of an answer could have. */
export function sizeOf(fields: readonly CollectedField[]): number {
  let size = 0;
  for (const selected of fields) {
    const { mapping, subselections } = selected;
    size +=
      mapping?.kind === "value"
        ? maxLengthOf(mapping.attribute)
        : multiplierOf(selected) * largest(subselections, sizeOf);
  }
  return size;
}

function maxLengthOf({ field }: Attribute): number {
  if (field.kind === "list")
    return Math.min(unboundedLength, (field.options.max ?? standardMaxItems) * lengthOfField(field.item));
  return lengthOfField(field);
}

function lengthOfField(field: FieldShape): number {
  if (field.kind === "json") return unboundedLength;
  return field.kind === "text" ? (field.options.max ?? unboundedLength) : 0;
}
