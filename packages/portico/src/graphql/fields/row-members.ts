// The fields of a row: its values, the rows that its references lead to, and the rows that refer to it.

import { type FieldShape, standardMaxItems } from "../../declare/field.ts";
import type { Attribute, CountModel, ResourceModel } from "../../model/model.ts";
import { maxLimit } from "../../model/operation-parameters.ts";
import type { Selection } from "../../query/read.ts";
import { linkedRows, maxLinks, selectedCount, selectMembers } from "../../query/selection.ts";
import { newestFirst } from "../../query/sort.ts";
import type { CollectedField, SelectionSet } from "../document/collect-fields.ts";
import { listMapping, objectMapping, type RowFieldMapping, rowMapping } from "./field-mapping.ts";
import { clampLimit } from "./list-arguments.ts";

/** The selection of a row. */
export function rowSelection({ fields }: SelectionSet): Selection {
  // All fields of row types are `RowFieldMapping`s.
  return selectMembers(fields.map((field) => field.mapping.toMember!(field)));
}

/** The selection of a field whose value is a row. */
export function selectionOf({ selectionSets }: CollectedField): Selection {
  return rowSelection(selectionSets[0]!);
}

/** A value of the row: `title`. */
export function valueMapping(attribute: Attribute): RowFieldMapping {
  return {
    ...objectMapping,
    maxLength: maxLengthOf(attribute),
    toMember: ({ responseName }) => ({ kind: "value", name: responseName, attribute }),
  };
}

/** The row that a reference leads to: `author { name }`. */
export function referenceMapping(reference: Attribute): RowFieldMapping {
  return {
    ...rowMapping,
    access: () => reference.reference!.target.access.get,
    toMember: (field) => ({
      ...{ kind: "row", name: field.responseName, reference, conditions: [] },
      selection: selectionOf(field),
    }),
  };
}

/** The newest rows of a resource whose reference leads to the row: `comments { body }`. */
export function inverseListMapping(resource: ResourceModel, reference: Attribute): RowFieldMapping {
  return {
    ...listMapping(({ first }) => clampLimit(first)),
    access: () => resource.access.list,
    toMember: (field) => ({
      ...{ kind: "list", name: field.responseName, resource, reference, conditions: [] },
      sort: newestFirst(resource),
      limit: clampLimit(field.arguments.first),
      selection: selectionOf(field),
    }),
  };
}

/** The rows of a many-to-many field: `labels { name }`. Without `first` it is all of them, up to the limit of lists. */
export function linkedListMapping(attribute: Attribute): RowFieldMapping {
  const limitOf = (first: unknown): number => Math.min(clampLimit(first, maxLimit), maxLinks(attribute));
  return {
    ...listMapping(({ first }) => limitOf(first)),
    access: () => attribute.links!.target.access.list,
    toMember: (field) =>
      linkedRows(attribute, selectionOf(field), field.responseName, limitOf(field.arguments.first)),
  };
}

/** The number of rows whose reference leads to the row: `openIssues`. It costs as much as a row. */
export function countMapping(count: CountModel): RowFieldMapping {
  return {
    ...rowMapping,
    access: () => count.resource.access.list,
    toMember: ({ responseName }) => selectedCount(count, responseName),
  };
}

/** Counted for a text or JSON value without a declared maximum. */
export const unboundedLength = 100_000;

function maxLengthOf({ field }: Attribute): number {
  if (field.kind === "list")
    return Math.min(unboundedLength, (field.options.max ?? standardMaxItems) * lengthOfField(field.item));
  return lengthOfField(field);
}

function lengthOfField(field: FieldShape): number {
  if (field.kind === "json") return unboundedLength;
  return field.kind === "text" ? (field.options.max ?? unboundedLength) : 0;
}
