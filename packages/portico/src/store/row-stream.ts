// The interface of a stream of rows: many rows of one state of the database, read only as fast as they are wanted.

import { Problem } from "../errors.ts";
import type { Statement } from "./database.ts";

/** Some rows, in the order of their statement. */
export interface RowChunk {
  /** The text of each row, followed by a line break. The text contains none. */
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** Open until it is closed, also after its last row. */
export interface RowStream {
  /** The number of rows, where it was asked for. */
  readonly total: number | undefined;
  /**
   * The next rows; undefined after the last. Call it again only after the previous call has settled.
   * @throws Problem `unavailable` if the database takes too long to find them, or the stream was closed
   */
  next(): Promise<RowChunk | undefined>;
  /** Ends the statement, also while `next` waits for it. */
  close(): void;
}

export interface StreamStatements<Input> {
  /** Its rows have one column, their text. */
  readonly rows: Statement<Input>;
  /** The number of these rows. */
  readonly count: Statement<Input> | undefined;
  /** How many rows may be in memory at once, because any of them may be long. */
  readonly maxRowsInMemory: number;
}

/** How long the database may take to find the next rows. */
export const maxSilenceMs = 30_000;
/** How long a stream may be open. */
export const maxStreamMs = 15 * 60_000;
/** Rows are passed on when they have about this size, or the reader has waited for some time. */
export const chunkBytes = 64 * 1024;
export const chunkMs = 200;

/** The error for rows that the database did not find in time. */
export function tooSlow(): Problem {
  return new Problem(
    "unavailable",
    "The rows took too long to find. Ask for fewer, or with other conditions.",
  );
}

/** The error of a stream that was closed while it was being read. */
export function streamClosed(): Problem {
  return new Problem("unavailable", "The export was ended.");
}
