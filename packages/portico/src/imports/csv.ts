// Rows from CSV: the first line has the names of the fields. A value is read by the kind of its field; an empty one is null
// where the field is optional, and otherwise left out. `""` is an empty text where the field may have one.

import { Problem } from "../errors.ts";
import { withoutFormulaMark } from "../lib/csv.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import { type Cell, type CsvRecord, CsvRecords, CsvSyntaxError } from "./csv-records.ts";
import { type ImportedLine, type LineParser, lineTooLong, maxLineBytes } from "./imported-line.ts";

/** As many as a table of SQLite can have. */
const maxColumns = 2_000;

export class CsvParser implements LineParser {
  readonly #resource: ResourceModel;
  // Without `ignoreBOM`, it drops a byte order mark.
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  readonly #records = new CsvRecords({ maxCells: maxColumns, maxCharacters: maxLineBytes });
  #names: readonly string[] | undefined;

  constructor(resource: ResourceModel) {
    this.#resource = resource;
  }

  push(chunk: Buffer): readonly ImportedLine[] {
    return this.#read(() => this.#records.push(this.#decode(chunk)));
  }

  end(): readonly ImportedLine[] {
    const lines = this.#read(() => {
      const rest = [...this.#records.push(this.#decode())];
      const last = this.#records.end();
      return last ? [...rest, last] : rest;
    });
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

  #read(records: () => Iterable<CsvRecord>): readonly ImportedLine[] {
    const lines: ImportedLine[] = [];
    try {
      for (const record of records()) {
        const line = this.#imported(record);
        if (line) lines.push(line);
      }
    } catch (error) {
      throw error instanceof CsvSyntaxError ? this.#failure(error.message) : error;
    }
    return lines;
  }

  /** @returns undefined for an empty line and for the first one, which has the names */
  #imported(record: CsvRecord): ImportedLine | undefined {
    const { line, cells, count, isTooLong } = record;
    if (count === 1 && cells[0] === undefined) return undefined;
    if (!this.#names) {
      this.#names = this.#header(record);
      return undefined;
    }
    const names = this.#names;
    if (isTooLong) return { line, body: () => lineTooLong() };
    if (count !== names.length) {
      const message = `The line has ${count} values, and the first line ${names.length} names.`;
      return { line, body: () => new Problem("malformed_request", message) };
    }
    return { line, body: () => this.#bodyOf(names, cells) };
  }

  #bodyOf(names: readonly string[], cells: readonly Cell[]): object {
    const members = names.map((name, index) => [
      name,
      valueOfCell(this.#resource.attribute.get(name), cells[index]),
    ]);
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }

  /** @throws Problem for names that are missing or occur twice */
  #header({ cells, count, isTooLong }: CsvRecord): readonly string[] {
    if (isTooLong || count > maxColumns)
      throw this.#failure(`The first line must have at most ${maxColumns} names, and 1 MiB.`, 1);
    const names = cells.map((cell) => cell ?? "");
    if (!names.includes("") && new Set(names).size === names.length) return names;
    throw this.#failure("Each name in the first line must be given, and only once.", 1);
  }

  #failure(message: string, line = this.#records.line): Problem {
    return new Problem("malformed_request", `Line ${line}: ${message}`);
  }
}

/** The value of a cell as a body has it. Text that no value of the field has is left as it is, and validation reports it. */
function valueOfCell(attribute: Attribute | undefined, cell: Cell): unknown {
  if (!attribute) return cell ?? "";
  if (cell === undefined || (cell === "" && !mayBeEmpty(attribute)))
    return attribute.isOptional ? null : undefined;
  switch (attribute.field.kind) {
    case "integer":
    case "number":
      return /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(cell) ? Number(cell) : cell;
    case "boolean":
      return cell === "true" ? true : cell === "false" ? false : cell;
    // Exports have an object; bodies have the id of an upload.
    case "file":
      return cell.startsWith("{") ? parsedJson(cell) : cell;
    case "json":
    case "list":
    case "manyToMany":
      return parsedJson(cell);
    default:
      return withoutFormulaMark(cell);
  }
}

/** Whether an empty text is a value of the field. */
function mayBeEmpty({ field }: Attribute): boolean {
  return field.kind === "text" && !field.options.min && !field.options.format && !field.options.pattern;
}

function parsedJson(cell: string): unknown {
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}
