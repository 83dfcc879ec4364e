// Decides which reads may read many more rows than they return. They run apart from other reads, as slow reads.

import type { Member, Read, ReadOne, Selection } from "../../query/read.ts";
import { isIndexed } from "./page-index.ts";
import type { SearchAccess } from "./search-access.ts";

/** Reads that may return more rows than this, nested rows included, run as slow reads. */
const maxRows = 1_000;

export function mayBeLarge({ selection, page }: Read): boolean {
  return selection.rows * page.limit > maxRows;
}

/** A statement with more nested rows, lists and counts than this takes long to plan. */
const maxNested = 50;

/** Why a read may read many more rows than it returns. */
export type ScanReason = "rows" | "nested" | "filtered lists" | "counts" | "search" | "count" | "no index";

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
 * @param access how the rows of a search, or of a walk, are found
 */
export function mayScan(read: Read, access?: SearchAccess): boolean {
  return scanReason(read, access) !== undefined;
}

export function scanReason(read: Read, access?: SearchAccess): ScanReason | undefined {
  const { words, page, selection } = read;
  if (page.style === "page") return words.length > 0 && !access?.isQuick ? "search" : "count";
  if (!access?.isQuick) {
    if (words.length > 0) return "search";
    if (!isIndexed(read)) return "no index";
  }
  return mayBeLarge(read) ? "rows" : nestedScanReason(selection);
}

function nestedScanReason(selection: Selection): ScanReason | undefined {
  if (countNested(selection) > maxNested) return "nested";
  if (hasMember(selection, isFilteredList)) return "filtered lists";
  return hasMember(selection, isCount) ? "counts" : undefined;
}

/** A list with conditions may read many rows to find a few, unless the row names those that may be in it. */
function isFilteredList(member: Member): boolean {
  return member.kind === "list" && member.conditions.length > 0 && !member.reference.links;
}

/** A count reads all rows that it counts. */
function isCount({ kind }: Member): boolean {
  return kind === "count";
}

/** Whether a selection has such a member, at any level. */
function hasMember({ members, isNested }: Selection, isSought: (member: Member) => boolean): boolean {
  if (!isNested) return false;
  return members.some(
    (member) => isSought(member) || ("selection" in member && hasMember(member.selection, isSought)),
  );
}

/** The number of nested rows, lists and counts, at every level. */
function countNested({ members, isNested }: Selection): number {
  if (!isNested) return 0;
  let count = 0;
  for (const member of members) {
    if (member.kind === "value" || member.kind === "constant") continue;
    if (member.kind !== "part") count += 1;
    if (member.kind !== "count") count += countNested(member.selection);
  }
  return count;
}
