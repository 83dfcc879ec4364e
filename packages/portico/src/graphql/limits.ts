// How much a caller may ask for. Each bound is checked before the work that it bounds.

import type { DocumentNode, FragmentDefinitionNode, SelectionSetNode } from "graphql";
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
  const message = `The operation has ${names[bound]} ${value}; the limit is ${limits[bound]}.`;
  return new Problem("validation_error", message, [{ field: bound, issue: "max" }]);
}

const names = {
  tokens: "tokens:",
  fields: "fields:",
  depth: "a depth of",
  cost: "a cost of",
  size: "a size of",
};

/**
 * How often one name may stand in one place: validation compares each of them with each other. Fragments that are
 * opened beside each other are compared as well.
 */
const mostRepeats = 50;
const mostSpreads = 100;

interface Extent {
  readonly fields: number;
  readonly depth: number;
  /** How often each name stands at the top of it. */
  readonly names: ReadonlyMap<string, number>;
}

/**
 * Holds each operation of a document against the limits of fields and depth, before it is validated: what is too
 * large is not worth that. Each fragment is looked at once, so that fragments within fragments take no longer.
 *
 * @throws Problem `validation_error`
 */
export function requireBoundedDocument(document: DocumentNode, limits: GraphqlLimits): void {
  const survey = new Survey(document, limits);
  for (const definition of document.definitions)
    if ("selectionSet" in definition)
      requireWithin("depth", survey.extentOf(definition.selectionSet).depth, limits);
}

class Survey {
  readonly #limits: GraphqlLimits;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #known = new Map<string, Extent>();
  /** Fragments that are being looked at. */
  readonly #open = new Set<string>();

  constructor({ definitions }: DocumentNode, limits: GraphqlLimits) {
    this.#limits = limits;
    this.#fragments = new Map(
      definitions.flatMap((each) => (each.kind === "FragmentDefinition" ? [[each.name.value, each]] : [])),
    );
  }

  extentOf({ selections }: SelectionSetNode): Extent {
    let fields = 0;
    let depth = 0;
    const names = new Map<string, number>();
    const spreads = selections.filter(({ kind }) => kind === "FragmentSpread").length;
    requireFew(spreads, mostSpreads, "Fragments stand");
    for (const selection of selections) {
      const inner = this.#inside(selection);
      const isField = selection.kind === "Field";
      // Introspection is bounded by a rule of its own, and as deep as this by nature.
      const isIntrospection = isField && selection.name.value.startsWith("__");
      fields += (isField ? 1 : 0) + inner.fields;
      depth = Math.max(depth, isIntrospection ? 1 : (isField ? 1 : 0) + inner.depth);
      if (fields > this.#limits.fields) throw beyond("fields", this.#limits);
      if (isField) addName(names, (selection.alias ?? selection.name).value, 1);
      else for (const [name, times] of inner.names) addName(names, name, times);
    }
    return { fields, depth, names };
  }

  #inside(selection: SelectionSetNode["selections"][number]): Extent {
    if (selection.kind !== "FragmentSpread")
      return selection.selectionSet ? this.extentOf(selection.selectionSet) : nothing;
    const name = selection.name.value;
    const known = this.#known.get(name);
    if (known) return known;
    if (this.#open.has(name))
      throw beyond("depth", this.#limits, `no end, because ${name.slice(0, 100)} stands within itself`);
    this.#open.add(name);
    const fragment = this.#fragments.get(name);
    const extent = fragment ? this.extentOf(fragment.selectionSet) : nothing;
    this.#open.delete(name);
    this.#known.set(name, extent);
    return extent;
  }
}

const nothing: Extent = { fields: 0, depth: 0, names: new Map() };

function addName(names: Map<string, number>, name: string, times: number): void {
  const all = (names.get(name) ?? 0) + times;
  requireFew(all, mostRepeats, `${name.slice(0, 100)} stands`);
  names.set(name, all);
}

function requireFew(count: number, most: number, what: string): void {
  if (count <= most) return;
  const message = `${what} ${count} times or more in one place; the limit is ${most}.`;
  throw new Problem("validation_error", message, [{ field: "fields", issue: "max" }]);
}

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
    default:
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
  if (field.kind === "json") return endless;
  return field.kind === "text" ? (field.options.max ?? endless) : 0;
}
