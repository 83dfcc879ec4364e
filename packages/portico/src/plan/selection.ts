// Selections: which attributes of a row, and which rows it refers to, an answer shows.

import type { Attribute, ResourceModel } from "../declare/model.ts";
import { conditionShape, type Nested, type Selection } from "./read.ts";

const whole = new WeakMap<ResourceModel, Selection>();

/** Everything that a row shows when nothing is selected. */
export function wholeRow(resource: ResourceModel): Selection {
  const known = whole.get(resource);
  if (known) return known;
  const attributes = resource.attributes.filter((attribute) => !attribute.isInternal);
  // Statements are looked up by the key, so the key of most requests is short.
  const made: Selection = Object.freeze({ attributes, nested: [], key: "*" });
  whole.set(resource, made);
  return made;
}

/** A selection of these attributes, in this order. */
export function select(attributes: readonly Attribute[], nested: readonly Nested[]): Selection {
  const names = attributes.map((attribute) => attribute.name);
  const inner = nested.map(
    ({ reference, selection, conditions }) =>
      `${reference.name}(${conditionShape(conditions)}){${selection.key}}`,
  );
  return Object.freeze({ attributes, nested, key: [...names, ...inner].join(",") });
}
