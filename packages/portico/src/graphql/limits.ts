// How much a caller may ask for. Each bound is checked before the work that it bounds.

import type {
  DocumentNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionSetNode,
} from "graphql";
import { Problem } from "../errors.ts";
import { connectionLimit, limitOf } from "./list-arguments.ts";
import type { Inside, Selected } from "./selected.ts";

export interface GraphqlLimits {
  /** Tokens of a document. */
  readonly tokens: number;
  /** Fields of an operation, with those of fragments counted wherever they are used. */
  readonly fields: number;
  /** Fields inside one another. */
  readonly depth: number;
  /** Rows that an operation could answer with. */
  readonly cost: number;
}

export const standardLimits: GraphqlLimits = { tokens: 10_000, fields: 1_000, depth: 15, cost: 25_000 };

/** @throws Problem `validation_error` that names the bound, the value and the limit */
export function requireWithin(bound: keyof GraphqlLimits, value: number, limits: GraphqlLimits): void {
  if (value <= limits[bound]) return;
  throw new Problem(
    "validation_error",
    `The operation has ${names[bound]} ${value}; the limit is ${limits[bound]}.`,
    [{ field: bound, issue: "max" }],
  );
}

const names = { tokens: "tokens:", fields: "fields:", depth: "a depth of", cost: "a cost of" };

interface Extent {
  readonly fields: number;
  readonly depth: number;
}

/**
 * Holds each operation of a document against the limits of fields and depth, before it is validated: what is too
 * large is not worth that. Each fragment is looked at once, so that fragments within fragments take no longer.
 */
export function requireBoundedDocument(document: DocumentNode, limits: GraphqlLimits): void {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const operations: OperationDefinitionNode[] = [];
  for (const definition of document.definitions) {
    if (definition.kind === "FragmentDefinition") fragments.set(definition.name.value, definition);
    if (definition.kind === "OperationDefinition") operations.push(definition);
  }
  const known = new Map<string, Extent>();
  for (const each of [...operations, ...fragments.values()]) {
    const { fields, depth } = extentOf(each.selectionSet, fragments, known);
    requireWithin("fields", fields, limits);
    requireWithin("depth", depth, limits);
  }
}

function extentOf(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  known: Map<string, Extent>,
): Extent {
  let fields = 0;
  let depth = 0;
  for (const selection of selections) {
    const inner = innerExtent(selection, fragments, known);
    const own = selection.kind === "Field" ? 1 : 0;
    // Introspection is bounded by a rule of its own, and as deep as this by nature.
    const isIntrospection = selection.kind === "Field" && selection.name.value.startsWith("__");
    fields += own + inner.fields;
    depth = Math.max(depth, isIntrospection ? 1 : own + inner.depth);
  }
  return { fields, depth };
}

function innerExtent(
  selection: SelectionSetNode["selections"][number],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  known: Map<string, Extent>,
): Extent {
  if (selection.kind !== "FragmentSpread")
    return selection.selectionSet ? extentOf(selection.selectionSet, fragments, known) : nothing;
  const name = selection.name.value;
  const found = known.get(name);
  if (found) return found;
  // While it is looked at, a fragment counts as empty: validation refuses those that go in circles.
  known.set(name, nothing);
  const fragment = fragments.get(name);
  const extent = fragment ? extentOf(fragment.selectionSet, fragments, known) : nothing;
  known.set(name, extent);
  return extent;
}

const nothing: Extent = { fields: 0, depth: 0 };

/** The most rows that the fields could answer with: lists count as full. */
export function costOf(fields: readonly Selected[]): number {
  let cost = 0;
  for (const selected of fields) cost += costOfField(selected);
  return cost;
}

function costOfField({ meaning, arguments: given, inside }: Selected): number {
  switch (meaning?.kind) {
    case "first":
    case "search":
      return limitOf(given.limit) * (1 + largest(inside));
    case "list":
      return limitOf(given.first) * (1 + largest(inside));
    case "page":
      return connectionLimit(given) * Math.max(1, largest(inside));
    case "one":
    case "row":
    case "node":
    case "edgeNode":
    case "create":
    case "change":
    case "remove":
      return 1 + largest(inside);
    case "edges":
      return largest(inside);
    default:
      return 0;
  }
}

function largest(inside: readonly Inside[]): number {
  return Math.max(0, ...inside.map(({ fields }) => costOf(fields)));
}
