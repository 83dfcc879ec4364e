// Holds a document against the limits before it is validated: what is too large is not worth that, and some rules of
// validation take time that grows with the square of what they look at.

import type { DocumentNode, FieldNode, FragmentDefinitionNode, SelectionSetNode } from "graphql";
import type { GraphqlLimits } from "./graphql-limits.ts";
import { limitExceeded, requireWithin } from "./operation-limits.ts";

interface Extent {
  readonly fields: number;
  readonly depth: number;
  readonly nesting: number;
}

const nothing: Extent = { fields: 0, depth: 0, nesting: 0 };

/**
 * Each fragment is measured once, so that fragments within fragments take no longer.
 *
 * @throws Problem `validation_error`
 */
export function requireBoundedDocument({ definitions }: DocumentNode, limits: GraphqlLimits): void {
  const fragments = definitions.filter((each) => each.kind === "FragmentDefinition");
  requireWithin("fragments", fragments.length, limits);
  requireWithin("operations", definitions.length - fragments.length, limits);
  const survey = new DocumentSurvey(fragments, limits);
  const sets = definitions.flatMap((each) => ("selectionSet" in each ? [each.selectionSet] : []));
  for (const { depth, nesting } of sets.map((set) => survey.measure(set))) {
    requireWithin("depth", depth, limits);
    requireWithin("nesting", nesting, limits);
  }
  for (const set of sets) survey.compare([set]);
}

class DocumentSurvey {
  readonly #limits: GraphqlLimits;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #measured = new Map<string, Extent>();
  /** Fragments that are being measured. */
  readonly #open = new Set<string>();
  #comparisons = 0;

  constructor(fragments: readonly FragmentDefinitionNode[], limits: GraphqlLimits) {
    this.#limits = limits;
    this.#fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  }

  measure({ selections }: SelectionSetNode): Extent {
    const limits = this.#limits;
    let [fields, depth, nesting] = [0, 0, 0];
    for (const selection of selections) {
      const inner = this.#inside(selection);
      const own = selection.kind === "Field" ? 1 : 0;
      fields += own + inner.fields;
      // Introspection is bounded by a rule of its own, and as deep as this by nature.
      depth = Math.max(depth, isIntrospection(selection) ? 1 : own + inner.depth);
      nesting = Math.max(nesting, 1 + inner.nesting);
      if (fields > limits.fields) throw limitExceeded("fields", limits);
    }
    return { fields, depth, nesting };
  }

  #inside(selection: SelectionSetNode["selections"][number]): Extent {
    if (selection.kind === "Field") requireWithin("name", nameOf(selection).length, this.#limits);
    if (selection.kind !== "FragmentSpread")
      return selection.selectionSet ? this.measure(selection.selectionSet) : nothing;
    const name = selection.name.value;
    requireWithin("name", name.length, this.#limits);
    const known = this.#measured.get(name);
    if (known) return known;
    if (this.#open.has(name))
      throw limitExceeded(
        "depth",
        this.#limits,
        `no end, because ${name.slice(0, 100)} stands within itself`,
      );
    this.#open.add(name);
    const fragment = this.#fragments.get(name);
    const extent = fragment ? this.measure(fragment.selectionSet) : nothing;
    this.#open.delete(name);
    this.#measured.set(name, extent);
    return extent;
  }

  /**
   * Counts the pairs that validation compares in one place of an answer, and inside it: fields of one name, and
   * fragments. Everything must have been measured, so that there are no circles.
   */
  compare(sets: readonly SelectionSetNode[]): void {
    const fields = new Map<string, FieldNode[]>();
    const opened = new Set<string>();
    for (const set of sets) this.#gather(set, fields, opened);
    this.#count(pairsOf(opened.size));
    for (const nodes of fields.values()) {
      this.#count(1 + pairsOf(nodes.length));
      const inner = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
      if (inner.length > 0) this.compare(inner);
    }
  }

  #gather({ selections }: SelectionSetNode, fields: Map<string, FieldNode[]>, opened: Set<string>): void {
    for (const selection of selections) {
      this.#count(1);
      if (selection.kind === "Field") {
        const name = nameOf(selection);
        const nodes = fields.get(name);
        if (nodes) nodes.push(selection);
        else fields.set(name, [selection]);
      } else if (selection.kind === "InlineFragment") this.#gather(selection.selectionSet, fields, opened);
      else if (!opened.has(selection.name.value)) {
        opened.add(selection.name.value);
        const fragment = this.#fragments.get(selection.name.value);
        if (fragment) this.#gather(fragment.selectionSet, fields, opened);
      }
    }
  }

  #count(pairs: number): void {
    this.#comparisons += pairs;
    if (this.#comparisons > this.#limits.comparisons) throw limitExceeded("comparisons", this.#limits);
  }
}

/** Its name in the answer. */
function nameOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}

function isIntrospection(selection: SelectionSetNode["selections"][number]): boolean {
  return selection.kind === "Field" && selection.name.value.startsWith("__");
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2;
}
