// CSV by RFC 4180: the first line has the names of the fields. A value is read by the kind of its field; an empty one is
// null where the field is optional, and otherwise left out.

import { Problem } from "../errors.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import { type ImportedLine, type LineParser, maxLineBytes } from "./imported-line.ts";
import { lineTooLong } from "./ndjson.ts";

interface CsvRecord {
  readonly cells: readonly string[];
  /** Where the next record begins. */
  readonly end: number;
}

export class CsvParser implements LineParser {
  readonly #resource: ResourceModel;
  // Without `ignoreBOM`, it drops a byte order mark.
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #text = "";
  #line = 1;
  #names: readonly string[] | undefined;

  constructor(resource: ResourceModel) {
    this.#resource = resource;
  }

  push(chunk: Buffer): readonly ImportedLine[] {
    return this.#read(this.#decode(chunk), false);
  }

  end(): readonly ImportedLine[] {
    const lines = this.#read(this.#decode(), true);
    if (!this.#names) throw this.#failure("The first line must have the names of the fields.");
    return lines;
  }

  #decode(chunk?: Buffer): string {
    try {
      return this.#decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw this.#failure("The text is not UTF-8.");
    }
  }

  #read(received: string, isLast: boolean): readonly ImportedLine[] {
    const text = this.#text + received;
    const lines: ImportedLine[] = [];
    let start = 0;
    while (start < text.length) {
      const record = this.#record(text, start, isLast);
      if (!record) break;
      const line = this.#line;
      this.#line += lineBreaks(text, start, record.end);
      start = record.end;
      const imported = this.#imported(line, record.cells);
      if (imported) lines.push(imported);
    }
    this.#text = text.slice(start);
    // Without its end, nothing that follows can be told apart from it.
    if (this.#text.length > maxLineBytes) throw this.#failure(lineTooLong().message);
    return lines;
  }

  /** @returns undefined if the record is not complete yet */
  #record(text: string, start: number, isLast: boolean): CsvRecord | undefined {
    const cells: string[] = [];
    for (let at = start; ; ) {
      const cell = text[at] === '"' ? this.#quoted(text, at, isLast) : unquoted(text, at, isLast);
      if (!cell) return undefined;
      cells.push(cell.value);
      if (text[cell.end] === ",") {
        at = cell.end + 1;
        continue;
      }
      const lineEnd = text[cell.end] === "\r" ? cell.end + 1 : cell.end;
      return { cells, end: Math.min(lineEnd + 1, text.length) };
    }
  }

  /** @returns the value, and where the comma or the line break after it is */
  #quoted(text: string, start: number, isLast: boolean): { value: string; end: number } | undefined {
    let value = "";
    for (let from = start + 1; ; ) {
      const quote = text.indexOf('"', from);
      // The character after a quote decides whether it ends the value, and a CR must be followed by LF.
      if (quote < 0 || (quote + 2 >= text.length && !isLast)) {
        if (!isLast) return undefined;
        throw this.#failure("A quoted value has no end.");
      }
      value += text.slice(from, quote);
      if (text[quote + 1] === '"') {
        value += '"';
        from = quote + 2;
        continue;
      }
      const end = quote + 1;
      const isEnd = end === text.length || [",", "\n"].includes(text[end]!) || text.startsWith("\r\n", end);
      if (isEnd) return { value, end };
      throw this.#failure("A quoted value is followed by other characters than a comma or a line break.");
    }
  }

  #imported(line: number, cells: readonly string[]): ImportedLine | undefined {
    if (cells.length === 1 && cells[0] === "") return undefined;
    if (!this.#names) {
      this.#names = this.#header(cells);
      return undefined;
    }
    const names = this.#names;
    if (cells.length !== names.length) {
      const message = `The line has ${cells.length} values, and the first line ${names.length} names.`;
      return { line, body: undefined, error: new Problem("malformed_request", message) };
    }
    if (cells.reduce((length, cell) => length + cell.length, 0) > maxLineBytes)
      return { line, body: undefined, error: lineTooLong() };
    const members = names.map((name, index) => [
      name,
      valueOfCell(this.#resource.attribute.get(name), cells[index]!),
    ]);
    return { line, body: Object.fromEntries(members.filter(([, value]) => value !== undefined)) };
  }

  /** @throws Problem for names that are missing or occur twice */
  #header(names: readonly string[]): readonly string[] {
    const isValid = names.every((name) => name !== "") && new Set(names).size === names.length;
    if (isValid) return names;
    throw this.#failure("Each name in the first line must be given, and only once.");
  }

  #failure(message: string): Problem {
    return new Problem("malformed_request", `Line ${this.#line}: ${message}`);
  }
}

const valueEnd = /[,\n]/g;

function unquoted(text: string, start: number, isLast: boolean): { value: string; end: number } | undefined {
  valueEnd.lastIndex = start;
  const found = valueEnd.exec(text);
  if (!found && !isLast) return undefined;
  const end = found ? found.index : text.length;
  const isBeforeLineFeed = text[end] !== "," && text[end - 1] === "\r" && end > start;
  return isBeforeLineFeed
    ? { value: text.slice(start, end - 1), end: end - 1 }
    : { value: text.slice(start, end), end };
}

function lineBreaks(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", start); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** The value of a cell as a body has it. Text that no value of the field has is left as it is, and validation reports it. */
function valueOfCell(attribute: Attribute | undefined, cell: string): unknown {
  if (!attribute) return cell;
  if (cell === "") return attribute.isOptional ? null : undefined;
  switch (attribute.field.kind) {
    case "integer":
    case "number":
      return /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(cell) ? Number(cell) : cell;
    case "boolean":
      return cell === "true" ? true : cell === "false" ? false : cell;
    case "json":
    case "list":
      return parsedJson(cell);
    default:
      return withoutFormulaMark(cell);
  }
}

function parsedJson(cell: string): unknown {
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}

/** Exports put an apostrophe before what a spreadsheet would take for a formula. */
function withoutFormulaMark(cell: string): string {
  return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell;
}
