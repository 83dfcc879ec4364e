// Which reads may look at many more rows than they answer with, so that they must not hold up others.

import { defaultSort } from "../../model/model.ts";
import { type Condition, isComparison, type Read, type ReadOne, type Selection } from "../../query/read.ts";
import { knownReference } from "./condition.ts";

/** With more values than this, `in` is one condition instead of one branch for each value. */
export const maxBranches = 20;

/** Reads that may answer with more rows than this do not hold up others. */
const maxRows = 1_000;

export function mayBeLarge({ selection, page }: Read): boolean {
  return selection.rows * page.limit > maxRows;
}

/** A statement with more rows and lists inside its rows takes long to plan. */
const maxInside = 50;

/** Of a row itself there is one; those inside may be many, or be found among many. */
export function mayGetScan({ selection }: ReadOne): boolean {
  return selection.rows > maxRows || countInside(selection) > maxInside || hasNarrowedLists(selection);
}

/**
 * Whether the page is more than a walk along one index: words and numbered pages count rows, and only one
 * condition beside the parent's is part of an index.
 */
export function mayScan(read: Read): boolean {
  const { conditions, words, page, resource, selection } = read;
  if (mayBeLarge(read) || countInside(selection) > maxInside || words.length > 0 || page.style === "page")
    return true;
  const others = conditions.filter((condition) =>
    isComparison(condition)
      ? condition.attribute !== resource.parent || condition.values.length > maxBranches
      : knownReference(conditions, condition.attribute) === undefined,
  );
  return (
    others.length > 1 ||
    !others.every((condition) => isIndexed(read, condition)) ||
    hasNarrowedLists(selection)
  );
}

/** Whether the rows that meet a condition stand in the order of the page in some index (`store/schema/ddl.ts`). */
function isIndexed({ sort, resource, conditions }: Read, condition: Condition): boolean {
  const { attribute, operator } = condition;
  if (operator === "is" || attribute.statusRules) return false;
  if (operator !== "in") return attribute === sort.attribute;
  // Rows that are equal in what they are sorted by are counted through from the first.
  if (condition.values.length > maxBranches || attribute === sort.attribute) return false;
  // Policies may also name fields that callers cannot filter by.
  const { name, reference, unique } = attribute;
  if (name === "id" || unique || (reference && sort.attribute.name === defaultSort)) return true;
  const isBelowParent = conditions.some((each) => isComparison(each) && each.attribute === resource.parent);
  return resource.filters.has(name) && (!resource.parent || isBelowParent);
}

/** Whether a list inside a row leaves rows out: it may look at many before it has found its few. */
function hasNarrowedLists({ members, isNested }: Selection): boolean {
  if (!isNested) return false;
  return members.some((member) => {
    if (member.kind === "value" || member.kind === "constant") return false;
    return (member.kind === "list" && member.conditions.length > 0) || hasNarrowedLists(member.selection);
  });
}

/** Rows and lists inside a row, at every level. */
function countInside({ members, isNested }: Selection): number {
  if (!isNested) return 0;
  let count = 0;
  for (const member of members) {
    if (member.kind === "value" || member.kind === "constant") continue;
    count += (member.kind === "part" ? 0 : 1) + countInside(member.selection);
  }
  return count;
}
