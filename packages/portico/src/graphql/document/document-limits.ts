// Checks the limits of a document before validation: validating a document that is too large is wasted work, and the time
// of some validation rules grows with the square of its size.

import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from "graphql";
import { type Problem, validationError } from "../../errors.ts";
import type { GraphqlLimits } from "./graphql-limits.ts";
import { limitExceeded, requireWithin } from "./operation-limits.ts";

/** The size of a selection set, with its fragments expanded. */
interface Extent {
  readonly fields: number;
  readonly depth: number;
  readonly nesting: number;
}

const empty: Extent = { fields: 0, depth: 0, nesting: 0 };

/** @throws Problem `validation_error` */
export function requireDocumentWithinLimits({ definitions }: DocumentNode, limits: GraphqlLimits): void {
  const fragments = definitions.filter((each) => each.kind === "FragmentDefinition");
  requireWithin("fragments", fragments.length, limits);
  requireWithin("operations", definitions.length - fragments.length, limits);
  const meter = new DocumentMeter(fragments, limits);
  const sets = definitions.flatMap((each) => ("selectionSet" in each ? [each.selectionSet] : []));
  for (const { depth, nesting } of sets.map((set) => meter.measure(set))) {
    requireWithin("depth", depth, limits);
    requireWithin("nesting", nesting, limits);
  }
  for (const set of sets) meter.countComparisons([set]);
}

class DocumentMeter {
  readonly #limits: GraphqlLimits;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Each fragment is measured once, so nested fragments do not multiply the time. */
  readonly #extents = new Map<string, Extent>();
  /** Fragments that are being measured. */
  readonly #open = new Set<string>();
  #comparisons = 0;

  constructor(fragments: readonly FragmentDefinitionNode[], limits: GraphqlLimits) {
    this.#limits = limits;
    this.#fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  }

  /** @throws Problem `validation_error` for too many fields, a name that is too long, or a cycle of fragments */
  measure({ selections }: SelectionSetNode): Extent {
    const limits = this.#limits;
    let [fields, depth, nesting] = [0, 0, 0];
    for (const selection of selections) {
      const inner = this.#measureSelection(selection);
      const own = selection.kind === "Field" ? 1 : 0;
      fields += own + inner.fields;
      // The usual introspection query is deeper than the limit. graphql-js limits introspection with a rule of its own.
      depth = Math.max(depth, isIntrospection(selection) ? 1 : own + inner.depth);
      nesting = Math.max(nesting, 1 + inner.nesting);
      if (fields > limits.fields) throw limitExceeded("fields", limits);
    }
    return { fields, depth, nesting };
  }

  #measureSelection(selection: SelectionNode): Extent {
    if (selection.kind === "Field") requireWithin("name", responseNameOf(selection).length, this.#limits);
    if (selection.kind !== "FragmentSpread")
      return selection.selectionSet ? this.measure(selection.selectionSet) : empty;
    const name = selection.name.value;
    requireWithin("name", name.length, this.#limits);
    const known = this.#extents.get(name);
    if (known) return known;
    if (this.#open.has(name)) throw cycle(name);
    this.#open.add(name);
    const fragment = this.#fragments.get(name);
    const extent = fragment ? this.measure(fragment.selectionSet) : empty;
    this.#open.delete(name);
    this.#extents.set(name, extent);
    return extent;
  }

  /**
   * Counts the pairs that validation compares to find fields that cannot be merged (GraphQL, section 5.3.2): fields with
   * the same response name, and fragments of the same selection set. Call `measure` first, which rejects cycles.
   *
   * @throws Problem `validation_error`
   */
  countComparisons(sets: readonly SelectionSetNode[]): void {
    const fields = new Map<string, FieldNode[]>();
    const fragments = new Set<string>();
    for (const set of sets) this.#collect(set, fields, fragments);
    this.#count(pairsOf(fragments.size));
    for (const nodes of fields.values()) {
      this.#count(1 + pairsOf(nodes.length));
      const inner = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
      if (inner.length > 0) this.countComparisons(inner);
    }
  }

  #collect({ selections }: SelectionSetNode, fields: Map<string, FieldNode[]>, fragments: Set<string>): void {
    for (const selection of selections) {
      this.#count(1);
      if (selection.kind === "Field") {
        const name = responseNameOf(selection);
        const nodes = fields.get(name);
        if (nodes) nodes.push(selection);
        else fields.set(name, [selection]);
      } else if (selection.kind === "InlineFragment")
        this.#collect(selection.selectionSet, fields, fragments);
      else if (!fragments.has(selection.name.value)) {
        fragments.add(selection.name.value);
        const fragment = this.#fragments.get(selection.name.value);
        if (fragment) this.#collect(fragment.selectionSet, fields, fragments);
      }
    }
  }

  #count(pairs: number): void {
    this.#comparisons += pairs;
    if (this.#comparisons > this.#limits.comparisons) throw limitExceeded("comparisons", this.#limits);
  }
}

/** In the words of graphql-js, whose validation is not reached. */
function cycle(name: string): Problem {
  const message = `Cannot spread fragment "${name.slice(0, 100)}" within itself.`;
  return validationError("depth", "max", message);
}

function responseNameOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}

function isIntrospection(selection: SelectionNode): boolean {
  return selection.kind === "Field" && selection.name.value.startsWith("__");
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2;
}
