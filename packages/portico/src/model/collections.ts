// The collections of rows that refer to a row, and their names.

import { capitalize } from "../lib/case.ts";
import type { Collection, ResourceModel } from "./model.ts";

/** The names of the fields of a resource, with those of its references and counts. */
export function fieldNames({
  attributes,
  counts,
}: Pick<ResourceModel, "attributes" | "counts">): ReadonlySet<string> {
  const names = attributes.flatMap(({ name, reference, links }) => {
    const rows = reference ?? links;
    return [name, ...(rows ? [rows.name] : [])];
  });
  return new Set([...names, ...counts.keys()]);
}

/**
 * The rows that refer to rows of a resource, by the plural of their resource: `comments`. If a resource has several
 * references to the target, the names of the references are part of the names: `messagesAsSender`. A collection whose
 * name is also that of a field or reference has no name.
 */
export function collectionsOf(
  resources: readonly ResourceModel[],
  target: ResourceModel,
): ReadonlyMap<string, Collection> {
  const usedNames = fieldNames(target);
  const collections = resources.flatMap((resource) => {
    const references = resource.references.filter(
      (each) => each.reference!.target === target && !each.isInternal,
    );
    return references.map((reference): [string, Collection] => {
      const isPlain = references.length === 1 && !usedNames.has(resource.plural);
      const name = isPlain ? resource.plural : `${resource.plural}As${capitalize(reference.reference!.name)}`;
      return [name, { resource, reference }];
    });
  });
  return new Map(collections.filter(([name]) => !usedNames.has(name)));
}
