// Newline-delimited JSON: each line is a JSON object. Empty lines are skipped.

import { isUtf8 } from "node:buffer";
import { Problem } from "../errors.ts";
import { type ImportedLine, type LineParser, maxLineBytes } from "./imported-line.ts";

const lineFeed = 0x0a;
const byteOrderMark = "\ufeff";

export class NdjsonParser implements LineParser {
  /** The number of the line that is being received. */
  #line = 1;
  /** What has been received of it. */
  #parts: Buffer[] = [];
  #bytes = 0;

  push(chunk: Buffer): readonly ImportedLine[] {
    const lines: ImportedLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      this.#add(chunk.subarray(start, end));
      this.#complete(lines);
      start = end + 1;
    }
    this.#add(chunk.subarray(start));
    return lines;
  }

  end(): readonly ImportedLine[] {
    const lines: ImportedLine[] = [];
    this.#complete(lines);
    return lines;
  }

  /** What exceeds the size of a line is discarded. */
  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    if (this.#bytes > maxLineBytes) this.#parts = [];
    else this.#parts.push(part);
  }

  #complete(lines: ImportedLine[]): void {
    const line = this.#line;
    const isTooLong = this.#bytes > maxLineBytes;
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#line += 1;
    this.#parts = [];
    this.#bytes = 0;
    const parsed = isTooLong ? lineTooLong() : parseLine(line, bytes);
    if (parsed instanceof Problem) lines.push({ line, body: undefined, error: parsed });
    else if (parsed) lines.push({ line, body: parsed.body });
  }
}

/** @returns the body of a line, the error, or undefined for an empty line */
function parseLine(line: number, bytes: Buffer): { readonly body: unknown } | Problem | undefined {
  if (!isUtf8(bytes)) return new Problem("malformed_request", "The line is not UTF-8.");
  const decoded = bytes.toString();
  const text = line === 1 && decoded.startsWith(byteOrderMark) ? decoded.slice(1) : decoded;
  if (text.trim() === "") return undefined;
  try {
    return { body: JSON.parse(text) };
  } catch {
    return new Problem("malformed_request", "The line is not JSON.");
  }
}

export function lineTooLong(): Problem {
  return new Problem("payload_too_large", "The line is larger than 1 MiB.");
}
