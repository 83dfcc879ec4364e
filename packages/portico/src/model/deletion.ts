// Which resources have rows that are deleted with a row of another. Known at start, so that a deletion of many rows does
// not derive it for each.

import type { Dependent, ResourceModel } from "./model.ts";

/** The references to a resource with `onDelete: "cascade"`. */
export function dependentsOf(resources: readonly ResourceModel[], target: ResourceModel): Dependent[] {
  return resources.flatMap((resource) =>
    resource.references
      .filter(({ field, reference }) => {
        const cascades = field.kind === "belongsTo" && field.options.onDelete === "cascade";
        return cascades && reference!.target === target;
      })
      .map((attribute) => ({ resource, attribute })),
  );
}

/**
 * The resources whose parent is a resource. Those that refer to others are first, so that no reference prevents a
 * deletion in this order.
 */
export function childrenOf(resources: readonly ResourceModel[], target: ResourceModel): ResourceModel[] {
  const children = resources.filter(({ parent }) => parent?.reference?.target === target);
  const referredFirst: ResourceModel[] = [];
  const visited = new Set<ResourceModel>();
  // Each resource once, as the number of paths between resources can grow exponentially with their references.
  const visit = (each: ResourceModel): void => {
    if (visited.has(each)) return;
    visited.add(each);
    for (const { reference } of each.references) visit(reference!.target);
    referredFirst.push(each);
  };
  for (const each of children) visit(each);
  return referredFirst.filter((each) => children.includes(each)).reverse();
}
