// The index to declare for a page that no index serves.

import { orderedChoices } from "../../declare/field.ts";
import { maxIndexFields } from "../../model/indexes.ts";
import type { IndexModel } from "../../model/model.ts";
import { type Comparison, isComparison } from "../../query/condition.ts";
import type { Read } from "../../query/read.ts";
import { keyText } from "../../query/sort.ts";
import { isIndexed } from "../compile/page-index.ts";

/**
 * A list for `indexes` of the resource, with which the page would be a walk along one index: `["status", "-title"]`.
 * @returns undefined if no index can serve the page
 */
export function missingIndex(read: Read): readonly string[] | undefined {
  const { resource, sort } = read;
  const id = resource.attribute.get("id")!;
  const equalities = read.conditions
    .filter((each): each is Comparison => isComparison(each) && each.operator === "in")
    .map(({ attribute }) => attribute);
  const compared = new Set(
    resource.parent && equalities.includes(resource.parent) ? [resource.parent, ...equalities] : equalities,
  );
  const columns: IndexModel["columns"] = [
    ...[...compared].map((attribute) => ({ attribute, isDescending: false })),
    ...sort.map((key) => ({ ...key, isRanked: orderedChoices(key.attribute.field) !== undefined })),
  ];
  const index = {
    columns: [...columns, { attribute: id, isDescending: sort.at(-1)!.isDescending }],
    unique: undefined,
  };
  // Every index ends with the id, which cannot be declared, and no index has lists.
  if (columns.some(({ attribute }) => attribute === id || attribute.element)) return undefined;
  const withIndex = { ...resource, indexes: [...resource.indexes, index] };
  if (columns.length > maxIndexFields || !isIndexed({ ...read, resource: withIndex })) return undefined;
  return columns.map(keyText);
}
