// Which resources have rows that are deleted with a row of another. Known at start, so that a deletion of many rows does
// not derive it for each.

import type { Attribute, Dependent, ResourceModel } from "./model.ts";

/** The references to a resource with a value of `onDelete`. */
export function referencesTo(
  resources: readonly ResourceModel[],
  target: ResourceModel,
  onDelete: "cascade" | "setNull",
): Dependent[] {
  return resources.flatMap((resource) =>
    resource.references
      .filter(
        ({ field, reference }) =>
          field.kind === "belongsTo" && field.options.onDelete === onDelete && reference!.target === target,
      )
      .map((attribute) => ({ resource, attribute })),
  );
}

/** Whether a reference becomes null when the row that it refers to is deleted. */
export function isCleared({ field }: Attribute): boolean {
  return field.kind === "belongsTo" && field.options.onDelete === "setNull";
}

/**
 * Whether rows no longer refer to a row once that is deleted, although they remain: their reference becomes null, also if
 * they are only marked as deleted.
 */
export function isDetached({ parent, markOnDelete }: ResourceModel, attribute: Attribute): boolean {
  return isCleared(attribute) || (markOnDelete !== undefined && attribute !== parent);
}

/** The many-to-many fields whose rows refer to rows of a resource. */
export function linkedFrom(resources: readonly ResourceModel[], target: ResourceModel): Dependent[] {
  return resources.flatMap((resource) =>
    resource.links
      .filter(({ links }) => links!.target === target)
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
    for (const { links } of each.links) visit(links!.target);
    referredFirst.push(each);
  };
  for (const each of children) visit(each);
  return referredFirst.filter((each) => children.includes(each)).reverse();
}
