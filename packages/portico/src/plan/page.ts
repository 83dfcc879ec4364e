// What the store answers to a `Read`: JSON text that goes to the socket as it is, and where it begins and ends.

import type { Position } from "./read.ts";

/** A page of rows in the collection's order. */
export interface Page {
  /** `[{...},{...}]` */
  readonly rows: string;
  readonly count: number;
  /** Whether rows lie beyond this page, in the direction in which it was read. */
  readonly hasMore: boolean;
  readonly first: Position | undefined;
  readonly last: Position | undefined;
  /** All rows of the list, for pages that are numbered. */
  readonly total: number | undefined;
}

export const defaultLimit = 20;
export const largestLimit = 100;
