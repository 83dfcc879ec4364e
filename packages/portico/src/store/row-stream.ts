// The interface of a stream of rows: many rows of one state of the database, read only as fast as they are wanted.

import { Problem } from "../errors.ts";
import { type CsvFormat, csvLines } from "../lib/csv.ts";
import type { Statement } from "./database.ts";

/** Some rows, in the order of their statement. */
export interface RowChunk {
  /**
   * A line for each row: its JSON text, or CSV. A text, because V8 collects texts as soon as others need their place; the
   * bytes of dead buffers, which are outside its heap, would first add up to tens of megabytes.
   */
  readonly lines: string;
  readonly count: number;
  /** How many rows to charge, if many were read to find these. */
  readonly charged?: number;
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
  /** Settles once the stream is closed and its statement has ended. It is never rejected. */
  readonly ended: Promise<void>;
}

export interface StreamOptions {
  /** Whether the stream has the number of its rows. */
  readonly isCounted: boolean;
  /** The format of the lines if they are CSV, otherwise they are JSON. */
  readonly csv: CsvFormat | undefined;
  /** Ends the stream, also before it is open. */
  readonly signal: AbortSignal;
}

/** The lines of rows, from their JSON texts. These contain no line breaks. */
export function linesOf(rows: readonly string[], csv: CsvFormat | undefined): string {
  if (rows.length === 0) return "";
  return csv ? csvLines(rows, csv) : `${rows.join("\n")}\n`;
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
/** Rows are passed on when they have about so many characters, or the reader has waited for some time. */
export const chunkLength = 64 * 1024;
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
