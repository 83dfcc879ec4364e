// A line of an import, before it is written.

import type { Problem } from "../errors.ts";

/** The maximum size of a line. A body of the API has the same. */
export const maxLineBytes = 1024 * 1024;

export interface ImportedLine {
  /** From 1. A row of a CSV file that has several lines has the number of its first. */
  readonly line: number;
  /** The body of the row; undefined if there is an error. */
  readonly body: unknown;
  /** Why the line cannot be read. */
  readonly error?: Problem;
}

/** Splits what is received into lines. */
export interface LineParser {
  /** @returns the lines that are complete now @throws Problem if nothing that follows could be read */
  push(chunk: Buffer): readonly ImportedLine[];
  /** @returns the last line, if no line break follows it @throws as above */
  end(): readonly ImportedLine[];
}
