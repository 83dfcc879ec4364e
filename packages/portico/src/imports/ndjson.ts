// Newline-delimited JSON: each line is a JSON object. Empty lines are skipped.

import { isUtf8 } from "node:buffer";
import { Problem } from "../errors.ts";
import { type ImportedLine, type LineParser, lineTooLong, maxLineBytes } from "./imported-line.ts";

const lineFeed = 0x0a;
const byteOrderMark = Buffer.from("\ufeff");
/** Parts of a line that are kept apart: a part of one byte takes several hundred. */
const maxParts = 256;

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
    if (this.#parts.length === maxParts) this.#parts = [Buffer.concat(this.#parts)];
  }

  #complete(lines: ImportedLine[]): void {
    const line = this.#line;
    this.#line += 1;
    if (this.#bytes === 0) return;
    const isTooLong = this.#bytes > maxLineBytes;
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    const text = line === 1 ? withoutMark(bytes) : bytes;
    if (isTooLong) lines.push({ line, body: lineTooLong });
    else if (!isBlank(text)) lines.push({ line, body: () => parseLine(text) });
  }
}

function withoutMark(bytes: Buffer): Buffer {
  const { length } = byteOrderMark;
  return bytes.subarray(0, length).equals(byteOrderMark) ? bytes.subarray(length) : bytes;
}

/** Whether a line has nothing but white space of JSON (RFC 8259, section 2). */
function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

function parseLine(bytes: Buffer): unknown | Problem {
  if (!isUtf8(bytes)) return new Problem("malformed_request", "The line is not UTF-8.");
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return new Problem("malformed_request", "The line is not JSON.");
  }
}
