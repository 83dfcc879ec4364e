// Decides which reads may read many more rows than they return. They run apart from other reads, as slow reads.

import type { Read, ReadOne, Selection } from "../../query/read.ts";
import { isIndexed } from "./page-index.ts";

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

/** Whether the page is more than a walk along one index. Searches and numbered pages count rows. */
export function mayScan(read: Read): boolean {
  const { words, page, selection } = read;
  if (mayBeLarge(read) || countNested(selection) > maxNested || words.length > 0 || page.style === "page")
    return true;
  return !isIndexed(read) || hasFilteredLists(selection);
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
