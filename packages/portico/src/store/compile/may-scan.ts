// Decides which reads may read many more rows than they return. They run apart from other reads, as slow reads.

import { defaultSort } from "../../model/model.ts";
import { type Condition, isComparison, type Read, type ReadOne, type Selection } from "../../query/read.ts";
import { knownReference } from "./condition.ts";

/** With more values than this, `in` is one condition instead of one index range for each value. */
export const maxBranches = 20;

/** Reads that may return more rows than this, nested rows included, run as slow reads. */
const maxRows = 1_000;

export function mayBeLarge({ selection, page }: Read): boolean {
  return selection.rows * page.limit > maxRows;
}

/** A statement with more nested rows and lists than this takes long to plan. */
const maxNested = 50;

/** Whether a read by id may be slow: its nested rows may be many, or be filtered out of many. */
export function mayGetScan({ selection }: ReadOne): boolean {
  return selection.rows > maxRows || countNested(selection) > maxNested || hasFilteredLists(selection);
}

/**
 * Whether the page is more than a walk along one index. Searches and numbered pages count rows, and an index covers only
 * one condition besides the parent's.
 */
export function mayScan(read: Read): boolean {
  const { conditions, words, page, resource, selection } = read;
  if (mayBeLarge(read) || countNested(selection) > maxNested || words.length > 0 || page.style === "page")
    return true;
  const others = conditions.filter((condition) =>
    isComparison(condition)
      ? condition.attribute !== resource.parent || condition.values.length > maxBranches
      : knownReference(conditions, condition.attribute) === undefined,
  );
  return (
    others.length > 1 ||
    !others.every((condition) => isIndexed(read, condition)) ||
    hasFilteredLists(selection)
  );
}

/** Whether an index contains the rows that meet a condition in the order of the page (`store/schema/ddl.ts`). */
function isIndexed({ sort, resource, conditions }: Read, condition: Condition): boolean {
  const { attribute, operator } = condition;
  if (operator === "is" || attribute.statusRules) return false;
  if (operator !== "in") return attribute === sort.attribute;
  // Rows with equal sort values are read from the first one on.
  if (condition.values.length > maxBranches || attribute === sort.attribute) return false;
  // Conditions of policies may name fields that callers cannot filter by.
  const { name, reference, unique } = attribute;
  if (name === "id" || unique || (reference && sort.attribute.name === defaultSort)) return true;
  const isWithinParent = conditions.some((each) => isComparison(each) && each.attribute === resource.parent);
  return resource.filters.has(name) && (!resource.parent || isWithinParent);
}

/** Whether a nested list has conditions: it may read many rows to find a few. */
function hasFilteredLists({ members, isNested }: Selection): boolean {
  if (!isNested) return false;
  return members.some((member) => {
    if (member.kind === "value" || member.kind === "constant") return false;
    return (member.kind === "list" && member.conditions.length > 0) || hasFilteredLists(member.selection);
  });
}

/** The number of nested rows and lists, at every level. */
function countNested({ members, isNested }: Selection): number {
  if (!isNested) return 0;
  let count = 0;
  for (const member of members) {
    if (member.kind === "value" || member.kind === "constant") continue;
    count += (member.kind === "part" ? 0 : 1) + countNested(member.selection);
  }
  return count;
}
