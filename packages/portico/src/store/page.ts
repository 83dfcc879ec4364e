// Turns the columns of a compiled list into a page: removes the surplus row, and finds the positions of the first and the
// last row.

import { AnswerTooLarge } from "../query/answer-size.ts";
import type { Value } from "../query/condition.ts";
import { rowSeparator, type StoredPage } from "../query/page.ts";
import type { Position, Read } from "../query/read.ts";
import { type ListColumns, needsKeys } from "./compile/list.ts";

/** Whether a bounded list returned all rows of its page. The surplus row, which only shows that there are more, may be missing. */
export function isWholePage(
  { page }: Read,
  [_text, _keys, count, _total, rowCount = count]: ListColumns,
): boolean {
  return count >= Math.min(rowCount, page.limit);
}

/** @throws AnswerTooLarge if the first row is too large, or the page is too large and its style does not allow it to end early */
export function pageOf(read: Read, columns: ListColumns): StoredPage {
  const { page } = read;
  const [text, keys, count, total, rowCount = count] = columns;
  const isCut = !isWholePage(read, columns);
  if (isCut && (page.style !== "cursor" || count === 0))
    throw new AnswerTooLarge(count === 0 ? "fields" : "limit");
  const rest = {
    isCut,
    first: undefined,
    last: undefined,
    total: total ?? undefined,
  };
  if (rowCount === 0) return { ...rest, rows: "[]", count: 0, hasMore: false };
  if (page.style !== "cursor") {
    const hasMore = page.style === "page" && page.number * page.limit < (total ?? 0);
    return { ...rest, rows: `[${text}]`, count, hasMore };
  }
  const hasSurplus = count > page.limit;
  const withoutSurplus = (all: string): string => {
    if (!hasSurplus) return all;
    return page.isBackward
      ? all.slice(all.indexOf(rowSeparator) + rowSeparator.length)
      : all.slice(0, all.lastIndexOf(rowSeparator));
  };
  const rows = withoutSurplus(text!);
  const hasMore = rowCount > page.limit || isCut;
  const base = { ...rest, rows: `[${rows}]`, count: Math.min(count, page.limit), hasMore };
  if (!needsKeys(read)) return { ...base, ...rowEnds(read, rows) };
  const keyTexts = withoutSurplus(keys!);
  if (!page.includesPositions) return { ...base, ...keyEnds(keyTexts) };
  const positions = keyTexts.split(rowSeparator).map(positionOf);
  return { ...base, positions, first: positions[0], last: positions.at(-1) };
}

interface PageEnds {
  readonly first: Position;
  readonly last: Position;
}

/** Only the first and the last row of a page are parsed. */
function rowEnds({ sort }: Read, rows: string): PageEnds {
  const position = (row: string): Position => {
    // The database built the text from a selection that contains both.
    const parsed = JSON.parse(row) as Record<string, Value> & { id: string };
    return { values: sort.map(({ attribute }) => parsed[attribute.name]!), id: parsed.id };
  };
  return { first: position(firstOf(rows)), last: position(lastOf(rows)) };
}

function keyEnds(keys: string): PageEnds {
  return { first: positionOf(firstOf(keys)), last: positionOf(lastOf(keys)) };
}

function positionOf(key: string): Position {
  const values = JSON.parse(key) as Value[];
  // The last one is the id.
  const id = values.pop() as string;
  return { values, id };
}

function firstOf(texts: string): string {
  const end = texts.indexOf(rowSeparator);
  return end < 0 ? texts : texts.slice(0, end);
}

function lastOf(texts: string): string {
  const end = texts.lastIndexOf(rowSeparator);
  return end < 0 ? texts : texts.slice(end + rowSeparator.length);
}
