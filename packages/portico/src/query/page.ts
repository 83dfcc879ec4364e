// A page as the store returns it: JSON text that is sent as it is, and the positions where it begins and ends.

import { defaultLimit, maxLimit } from "../model/operation-parameters.ts";
import type { Position } from "./read.ts";

/** Rows in the order of their collection. */
export interface StoredPage {
  /** `[{...},{...}]`, with `rowSeparator` between two rows. */
  readonly rows: string;
  readonly count: number;
  /** Whether there are more rows in the direction in which the page was read. */
  readonly hasMore: boolean;
  /** Whether the page has fewer rows than its limit because the response would be too large. */
  readonly isCut: boolean;
  readonly first: Position | undefined;
  readonly last: Position | undefined;
  /** The position of every row, if the read includes them. */
  readonly positions?: readonly Position[];
  /** Number of rows in the whole list, for numbered pages. */
  readonly total: number | undefined;
}

/** Separates two rows of a page. The text of a row never contains a line break. */
export const rowSeparator = ",\n";

/** Separates the texts of one row, if its selection has several parts. */
export const partSeparator = "\n";

/** Parses the requested number of rows: an invalid limit becomes the default, a larger one `maxLimit`. */
export function parseLimit(text: string | undefined): number {
  const limit = text !== undefined && /^\d+$/.test(text) ? Number(text) : 0;
  return limit < 1 ? defaultLimit : Math.min(limit, maxLimit);
}
