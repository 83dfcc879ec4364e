// A collection as a plain list: computes the expected result of filters, sorts, search and pages without a database.

import { searchWords } from "../../../src/query/search-terms.ts";

export type Value = string | number | boolean | null;
export type Row = Readonly<Record<string, Value>> & { readonly id: string };

export type Operator = "in" | "gte" | "gt" | "lte" | "lt";

export interface Filter {
  readonly field: string;
  readonly operator: Operator;
  readonly values: readonly Value[];
}

export interface ListQuery {
  /** Names of fields, descending with a leading `-`, the most significant first. */
  readonly sort: readonly string[];
  readonly filters: readonly Filter[];
  readonly q: string;
  /** The fields that `q` searches. */
  readonly searched: readonly string[];
}

/** The rows that match a query, in its order. */
export function listed(rows: readonly Row[], query: ListQuery): Row[] {
  // The id follows in the direction of the last field.
  const keys = [...query.sort, query.sort.at(-1)!.startsWith("-") ? "-id" : "id"];
  const order = (a: Row, b: Row, key: string): number => {
    const name = key.replace(/^-/, "");
    return (key === name ? 1 : -1) * compare(name, a[name]!, b[name]!);
  };
  return rows
    .filter((row) => query.filters.every((filter) => matches(row[filter.field]!, filter)))
    .filter((row) => isFound(row, query))
    .sort((a, b) => keys.map((key) => order(a, b, key)).find((each) => each !== 0) ?? 0);
}

/** The fields whose texts are decimals with two digits after the point. */
const decimals: ReadonlySet<string> = new Set(["cost"]);

/** The choices of the fields whose choices are ordered. */
const choices: ReadonlyMap<string, readonly Value[]> = new Map([
  ["wear", ["new", "good", "fair", "bad"]],
  ["level", ["low", "medium", "high"]],
]);

/** Null is smallest, text is ordered by its bytes in UTF-8, false comes before true. */
function compare(name: string, a: Value, b: Value): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  const ordered = choices.get(name);
  if (ordered) return ordered.indexOf(a) - ordered.indexOf(b);
  if (decimals.has(name)) {
    const [one, other] = [a, b].map((each) => BigInt(String(each).replace(".", "")));
    return one! < other! ? -1 : 1;
  }
  if (typeof a === "string") return Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
  return Number(a) < Number(b) ? -1 : 1;
}

function matches(value: Value, { field, operator, values }: Filter): boolean {
  if (value === null) return false;
  if (operator === "in") return values.includes(value);
  const order = compare(field, value, values[0]!);
  if (operator === "gte") return order >= 0;
  if (operator === "gt") return order > 0;
  return operator === "lte" ? order <= 0 : order < 0;
}

function isFound(row: Row, { q, searched }: ListQuery): boolean {
  const words = searchWords(searched.map((field) => row[field] ?? "").join(" "));
  return searchWords(q).every((wanted) => words.some((word) => word.startsWith(wanted)));
}

export interface ModelPage {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/** The page after the row `at` or, backward, before it; without such a row, the first or the last page. */
export function adjacentPage(
  list: readonly Row[],
  { at, isBackward, limit }: { at: Row | undefined; isBackward: boolean; limit: number },
): ModelPage {
  const index = at ? list.indexOf(at) : undefined;
  if (isBackward) {
    const end = index ?? list.length;
    return { rows: list.slice(Math.max(0, end - limit), end), hasMore: end > limit };
  }
  const start = index === undefined ? 0 : index + 1;
  return { rows: list.slice(start, start + limit), hasMore: start + limit < list.length };
}
