// Rows and bodies of older versions.

import { renameMembers } from "../lib/rename-members.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import { isPlainObject } from "../query/plain-object.ts";
import { fieldNamesOf } from "./field-names.ts";

/**
 * A row of the current resource as a version shows it.
 * @param text JSON
 */
export function rowIn(resource: ResourceModel, text: string): string {
  return renameMembers(text, fieldNamesOf(resource).toOlder);
}

/**
 * A body as the engine expects it, from one of a version. Names that the version does not have become names that no version
 * has, so that they are refused.
 */
export function currentBody(resource: ResourceModel, body: unknown): unknown {
  const { toCurrent } = fieldNamesOf(resource);
  if (toCurrent.size === 0 || !isPlainObject(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [toCurrent.get(name) ?? name, value]),
  );
}

/** The attributes of the current resource that a version does not have. */
export function missingIn({ current, attributes }: ResourceModel): readonly Attribute[] {
  if (!current) return [];
  const shown = new Set(attributes.map((each) => each.current));
  return current.attributes.filter((each) => !shown.has(each));
}
