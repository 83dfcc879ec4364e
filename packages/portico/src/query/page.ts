// What the store answers to a `Read`: JSON text that goes to the socket as it is, and where it begins and ends.

import type { Position } from "./read.ts";

/** A page of rows in the collection's order. */
export interface Page {
  /** `[{...},{...}]`, with `rowSeparator` between two rows. */
  readonly rows: string;
  readonly count: number;
  /** Whether rows lie beyond this page, in the direction in which it was read. */
  readonly hasMore: boolean;
  /** Whether it ends before its limit, because the answer would be too large. */
  readonly isCut: boolean;
  readonly first: Position | undefined;
  readonly last: Position | undefined;
  /** The place of every row, where the read asks for them. */
  readonly positions?: readonly Position[];
  /** All rows of the list, for pages that are numbered. */
  readonly total: number | undefined;
}

/** Stands between two rows of a page. The text of a row never holds a line break. */
export const rowSeparator = ",\n";

/** Stands between two texts that were made of one row. */
export const partSeparator = "\n";

export const defaultLimit = 20;
export const maxLimit = 100;

/** The rows of a page as they are asked for: an unusable limit is replaced by the default, a larger one by the largest. */
export function parseLimit(text: string | undefined): number {
  const limit = text !== undefined && /^\d+$/.test(text) ? Number(text) : 0;
  return limit < 1 ? defaultLimit : Math.min(limit, maxLimit);
}
