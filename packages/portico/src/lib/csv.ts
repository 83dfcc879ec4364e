// Rows as CSV (RFC 4180), from their JSON texts.

export interface CsvColumn {
  /** The members that lead to its value: `["author", "name"]`. */
  readonly path: readonly string[];
  /** Whether its values are JSON, as those of lists are. */
  readonly isJson: boolean;
  /** Whether its texts are numbers, as decimals are: no spreadsheet takes one for a formula. */
  readonly isNumber?: boolean;
}

/** Plain data, which threads can receive. */
export interface CsvFormat {
  readonly columns: readonly CsvColumn[];
  /** Whether an apostrophe is put before what a spreadsheet would take for a formula. */
  readonly escapesFormulas: boolean;
}

const lineEnd = "\r\n";

/** The first line, with the names of the columns. */
export function csvHeader({ columns }: Pick<CsvFormat, "columns">): string {
  return columns.map(({ path }) => quotedIfNeeded(path.join("."))).join(",") + lineEnd;
}

/**
 * A line for each row. A value that is missing is an empty cell, and an empty text `""`.
 *
 * @param rows the JSON texts of objects
 */
export function csvLines(rows: readonly string[], { columns, escapesFormulas }: CsvFormat): string {
  let lines = "";
  for (const text of rows) {
    const row: unknown = JSON.parse(text);
    let separator = "";
    for (const column of columns) {
      lines += separator + cellOf(valueAt(row, column.path), column, escapesFormulas);
      separator = ",";
    }
    lines += lineEnd;
  }
  return lines;
}

function valueAt(row: unknown, path: readonly string[]): unknown {
  let value = row;
  for (const name of path) value = (value as Readonly<Record<string, unknown>> | null)?.[name];
  return value;
}

function cellOf(value: unknown, { isJson, isNumber }: CsvColumn, escapesFormulas: boolean): string {
  if (value === null || value === undefined) return "";
  if (isJson || typeof value === "object") return quotedIfNeeded(JSON.stringify(value));
  if (typeof value !== "string" || isNumber) return String(value);
  return quotedIfNeeded(escapesFormulas && isFormula(value) ? `'${value}` : value);
}

/**
 * Whether a spreadsheet takes a text for a formula: some skip white space, and some take the full-width forms of `=+-@` for
 * the same signs. A text that begins with apostrophes before one counts as well, so that one apostrophe can be removed from
 * each text that begins so.
 */
function isFormula(text: string): boolean {
  return /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text);
}

/** The text of a cell without the apostrophe that exports put before what a spreadsheet would take for a formula. */
export function withoutFormulaMark(cell: string): string {
  return cell.startsWith("'") && isFormula(cell) ? cell.slice(1) : cell;
}

function quotedIfNeeded(text: string): string {
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
