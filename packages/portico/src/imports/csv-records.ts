// Splits CSV into records (RFC 4180) as it arrives: each character is looked at once, however the text is divided.

/** Undefined if it is empty and not quoted. */
export type Cell = string | undefined;

export interface CsvRecord {
  /** The number of its first line. */
  readonly line: number;
  /** No more than the bounds allow. */
  readonly cells: readonly Cell[];
  /** How many cells it has. */
  readonly count: number;
  /** Whether it has more characters than the bounds allow, so that its cells are incomplete. */
  readonly isTooLong: boolean;
}

export interface CsvBounds {
  readonly maxCells: number;
  /** Of a record, its quotes and commas included. */
  readonly maxCharacters: number;
}

/** Where in a cell the text continues. `closed` is after a quote, which ends the value unless another one follows. */
type Position = "start" | "unquoted" | "quoted" | "closed" | "closed, CR";

export class CsvSyntaxError extends Error {}

const unquotedEnd = /[,\n]/g;

export class CsvRecords {
  readonly #bounds: CsvBounds;
  #position: Position = "start";
  /** The value of the cell so far. */
  #value = "";
  #cells: Cell[] = [];
  #count = 0;
  #characters = 0;
  #firstLine = 1;
  #line = 1;

  constructor(bounds: CsvBounds) {
    this.#bounds = bounds;
  }

  /** The number of the line in which the record begins that is being received. */
  get line(): number {
    return this.#firstLine;
  }

  /** Yields the records that are complete now. @throws CsvSyntaxError if nothing that follows could be read */
  *push(text: string): Generator<CsvRecord, void> {
    for (let at = 0; at < text.length; ) {
      const start = at;
      at = this.#readPart(text, at);
      this.#characters += at - start;
      if (this.#isAtLineEnd(text, at)) yield this.#takeRecord();
    }
  }

  /** @returns the last record, if no line break follows it @throws as above */
  end(): CsvRecord | undefined {
    if (this.#position === "quoted") throw new CsvSyntaxError("A quoted value has no end.");
    if (this.#position === "start" && this.#count === 0) return undefined;
    this.#endCell();
    return this.#takeRecord();
  }

  /** Reads what one step can. @returns where the next one continues */
  #readPart(text: string, at: number): number {
    switch (this.#position) {
      case "start":
        if (text[at] !== '"') return this.#readUnquoted(text, at);
        this.#position = "quoted";
        return at + 1;
      case "unquoted":
        return this.#readUnquoted(text, at);
      case "quoted":
        return this.#readQuoted(text, at);
      default:
        return this.#readAfterQuote(text, at);
    }
  }

  #readUnquoted(text: string, start: number): number {
    unquotedEnd.lastIndex = start;
    const end = unquotedEnd.exec(text)?.index ?? text.length;
    this.#append(text, start, end);
    this.#position = "unquoted";
    return end === text.length ? end : this.#readSeparator(text, end);
  }

  #readQuoted(text: string, start: number): number {
    const quote = text.indexOf('"', start);
    const end = quote < 0 ? text.length : quote;
    this.#append(text, start, end);
    this.#line += lineBreaks(text, start, end);
    if (quote < 0) return end;
    this.#position = "closed";
    return end + 1;
  }

  #readAfterQuote(text: string, at: number): number {
    const character = text[at];
    const isAfterReturn = this.#position === "closed, CR";
    if (character === "\n" || (character === "," && !isAfterReturn)) return this.#readSeparator(text, at);
    if (character === '"' && !isAfterReturn) {
      this.#append('"', 0, 1);
      this.#position = "quoted";
      return at + 1;
    }
    if (character !== "\r" || isAfterReturn)
      throw new CsvSyntaxError("After a quoted value, there must be a comma or a line break.");
    this.#position = "closed, CR";
    return at + 1;
  }

  /** Reads the comma or the line break after a cell. */
  #readSeparator(text: string, at: number): number {
    if (text[at] === "\n") {
      this.#endCell();
      this.#line += 1;
    } else {
      this.#addCell(this.#value);
    }
    return at + 1;
  }

  /** Whether the character before a position was the line break that ended the record. */
  #isAtLineEnd(text: string, at: number): boolean {
    return this.#position === "start" && text[at - 1] === "\n";
  }

  /** Ends the last cell of a record. A CR before the line break belongs to that. */
  #endCell(): void {
    const hasReturn = this.#position === "unquoted" && this.#value.endsWith("\r");
    this.#addCell(hasReturn ? this.#value.slice(0, -1) : this.#value);
  }

  #addCell(value: string): void {
    const isQuoted = this.#position === "closed" || this.#position === "closed, CR";
    if (this.#count < this.#bounds.maxCells) this.#cells.push(isQuoted || value !== "" ? value : undefined);
    this.#count += 1;
    this.#value = "";
    this.#position = "start";
  }

  #append(text: string, start: number, end: number): void {
    if (start < end && this.#characters < this.#bounds.maxCharacters) this.#value += text.slice(start, end);
  }

  #takeRecord(): CsvRecord {
    const isTooLong = this.#characters > this.#bounds.maxCharacters;
    const record = { line: this.#firstLine, cells: this.#cells, count: this.#count, isTooLong };
    this.#cells = [];
    this.#count = 0;
    this.#characters = 0;
    this.#firstLine = this.#line;
    return record;
  }
}

function lineBreaks(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", start); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
