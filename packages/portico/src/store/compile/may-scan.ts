// Decides which reads may read many more rows than they return. They run apart from other reads, as slow reads.

import type { Read, ReadOne, Selection } from "../../query/read.ts";
import { isIndexed } from "./page-index.ts";
import type { SearchAccess } from "./search-access.ts";

/** Reads that may return more rows than this, nested rows included, run as slow reads. */
const maxRows = 1_000;

export function mayBeLarge({ selection, page }: Read): boolean {
  return selection.rows * page.limit > maxRows;
}

/** A statement with more nested rows and lists than this takes long to plan. */
const maxNested = 50;

/** Why a read may read many more rows than it returns. */
export type ScanReason = "rows" | "nested" | "filtered lists" | "search" | "count" | "no index";

/** Whether a read by id may be slow: its nested rows may be many, or be filtered out of many. */
export function mayGetScan(read: ReadOne): boolean {
  return getScanReason(read) !== undefined;
}

export function getScanReason({ selection }: ReadOne): ScanReason | undefined {
  return selection.rows > maxRows ? "rows" : nestedScanReason(selection);
}

/**
 * Whether the page is more than a walk along one index. Numbered pages count rows.
 *
 * @param access how the rows of a search are found
 */
export function mayScan(read: Read, access?: SearchAccess): boolean {
  return scanReason(read, access) !== undefined;
}

export function scanReason(read: Read, access?: SearchAccess): ScanReason | undefined {
  const { words, page, selection } = read;
  if (words.length > 0 && !access?.isQuick) return "search";
  if (page.style === "page") return "count";
  if (words.length === 0 && !isIndexed(read)) return "no index";
  return mayBeLarge(read) ? "rows" : nestedScanReason(selection);
}

function nestedScanReason(selection: Selection): ScanReason | undefined {
  if (countNested(selection) > maxNested) return "nested";
  return hasFilteredLists(selection) ? "filtered lists" : undefined;
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
