// The deprecated fields that a request to a resource names.

import type { Deprecation } from "../declare/field-options.ts";
import type { ResourceModel } from "../model/model.ts";

/** @param named names of fields in the body, filters, sort or selection */
export function fieldDeprecations(resource: ResourceModel, named: Iterable<string>): readonly Deprecation[] {
  return [...named].flatMap((name) => deprecationsOnPath(resource, name.split(".")));
}

/** The deprecations on the path `author.name`: those of the reference and of the field. */
function deprecationsOnPath(resource: ResourceModel, [name = "", ...rest]: readonly string[]): Deprecation[] {
  if (rest.length === 0) {
    const field = resource.attribute.get(name) ?? resource.counts.get(name);
    return field?.deprecated ? [field.deprecated] : [];
  }
  const related = [...resource.references, ...resource.links].find(
    (each) => (each.reference ?? each.links)!.name === name,
  );
  if (!related) return [];
  const { target } = (related.reference ?? related.links)!;
  return [...(related.deprecated ? [related.deprecated] : []), ...deprecationsOnPath(target, rest)];
}

/** The names of fields in a query. */
export function namesInQuery(query: ReadonlyMap<string, readonly string[]>): string[] {
  return [...query].flatMap(([name, values]) => [
    name.replace(/\[\w+\]$/, ""),
    ...(name === "sort"
      ? values.flatMap((value) => value.split(",").map((each) => each.replace(/^-/, "")))
      : []),
    ...(name === "fields" ? values.flatMap((value) => value.split(",").map((each) => each.trim())) : []),
  ]);
}
