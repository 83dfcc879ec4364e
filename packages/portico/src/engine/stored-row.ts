// Rows as code of declarations gets them: with their internal fields, which are not enumerable, so that neither JSON nor a
// copy of the row has them. What is sent, recorded or logged therefore leaves them out.

import type { Attribute, ResourceModel } from "../model/model.ts";
import { partSeparator, rowSeparator } from "../query/page.ts";
import type { Selection } from "../query/read.ts";
import { select, selectParts, wholeRow } from "../query/selection.ts";
import type { RowValues } from "../query/write.ts";

type Row = Record<string, unknown>;

interface StoredRow {
  readonly internal: readonly Attribute[];
  readonly selection: Selection;
}

const storedRows = new WeakMap<ResourceModel, StoredRow>();

function storedRowOf(resource: ResourceModel): StoredRow {
  const known = storedRows.get(resource);
  if (known) return known;
  const internal = resource.attributes.filter(({ isInternal }) => isInternal);
  const whole = wholeRow(resource);
  const selection = internal.length === 0 ? whole : selectParts([whole, select(internal)]);
  const stored = { internal, selection };
  storedRows.set(resource, stored);
  return stored;
}

/** The selection of all attributes: a text with those that are shown, and one with the internal ones, if there are any. */
export function storedSelection(resource: ResourceModel): Selection {
  return storedRowOf(resource).selection;
}

/** The text of a row with the attributes that are shown. */
export function shownText(text: string): string {
  const end = text.indexOf(partSeparator);
  return end < 0 ? text : text.slice(0, end);
}

/** Parses the text of `storedSelection`. */
export function parseStored(text: string): Row {
  const end = text.indexOf(partSeparator);
  // The database wrote objects.
  if (end < 0) return JSON.parse(text) as Row;
  return withInternal(JSON.parse(text.slice(0, end)), JSON.parse(text.slice(end + 1)));
}

/** Parses the texts of the rows of a page. */
export function parseStoredRows(resource: ResourceModel, rows: string): Row[] {
  if (storedRowOf(resource).internal.length === 0 || rows === "[]") return JSON.parse(rows) as Row[];
  return rows.slice(1, -1).split(rowSeparator).map(parseStored);
}

/** The internal values of a row that was written. */
export function internalValues(resource: ResourceModel, written: RowValues, previous: RowValues = {}): Row {
  const values: Row = {};
  for (const { name } of storedRowOf(resource).internal)
    values[name] = (Object.hasOwn(written, name) ? written[name] : previous[name]) ?? null;
  return values;
}

/** Adds internal values to a row. */
export function withInternal(row: Row, internal: RowValues): Row {
  for (const [name, value] of Object.entries(internal)) Object.defineProperty(row, name, { value });
  return row;
}
