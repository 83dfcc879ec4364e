// A line of an import, before it is written.

import { Problem } from "../errors.ts";

/** The maximum size of a line. A body of the API has the same. */
export const maxLineBytes = 1024 * 1024;

export interface ImportedLine {
  /** From 1. A row of a CSV file that has several lines has the number of its first. */
  readonly line: number;
  /**
   * Parses the line, which takes several times the memory of its text. So it is called when the line is written.
   * @returns the body of the row, or why the line cannot be read
   */
  readonly body: () => unknown | Problem;
}

/** Splits what is received into lines. */
export interface LineParser {
  /** @returns the lines that are complete now @throws Problem if nothing that follows could be read */
  push(chunk: Buffer): readonly ImportedLine[];
  /** @returns the last line, if no line break follows it @throws as above */
  end(): readonly ImportedLine[];
}

export function lineTooLong(): Problem {
  return new Problem("payload_too_large", "The line is larger than 1 MiB.");
}
