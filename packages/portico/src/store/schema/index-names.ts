// The names of indexes. A name says what its index consists of, so that a changed index is another one.

import { hash } from "node:crypto";
import type { Index, Table } from "./table.ts";

/** The prefix of index names. A migration leaves indexes with other names alone. */
export const indexPrefix = "portico_";
const uniqueInfix = "unique_";
export const uniqueIndexPrefix = `${indexPrefix}${uniqueInfix}`;

/** PostgreSQL truncates longer names. */
const maxIdentifierLength = 63;
const hashLength = 8;

/** Shortens a name that PostgreSQL would truncate, and keeps it unique by a hash. */
export function identifier(name: string, maxLength: number = maxIdentifierLength): string {
  if (name.length <= maxLength) return name;
  return `${name.slice(0, maxLength - hashLength - 1)}_${shortHash(name)}`;
}

/** The version of `search/index-terms.ts` and of the structure of search indexes. */
const searchFormat = "2";

/**
 * Its name contains a hash of its format and columns. When either changes, a migration computes the search words of all
 * rows and creates the index again. So does the change of layout, which copies no search words.
 */
export function searchIndexName(table: string, columns: readonly string[]): string {
  const ending = (hashed: string): string => `_search_${shortHash(hashed)}`;
  const name = `${indexPrefix}${table}${ending([searchFormat, ...columns].join())}`;
  if (name.length <= maxIdentifierLength) return name;
  // `postgres/tables.ts` tells search indexes from others by the ending.
  const end = ending([searchFormat, table, ...columns].join());
  return `${indexPrefix}${table.slice(0, maxIdentifierLength - indexPrefix.length - end.length)}${end}`;
}

type NamedParts = Omit<Index, "name">;

/** Every index of a table with its name. @param tables all tables, which decide whether a name is ambiguous */
export function namedIndexes(
  { name: table }: Pick<Table, "name">,
  indexes: readonly NamedParts[],
  tables: readonly Pick<Table, "name" | "columns">[],
): Index[] {
  return indexes.map((index) => {
    const parts = index.columns.filter(({ name }) => name !== tenantColumn).map(partOf);
    const plain = `${index.isUnique ? uniqueInfix : ""}${table}_${parts.join("_")}`;
    const isAmbiguous = tables.reduce((count, each) => count + readingsFor(plain, each), 0) > 1;
    const exact = JSON.stringify([index.isUnique, table, ...parts]);
    return {
      ...index,
      name: identifier(`${indexPrefix}${plain}${isAmbiguous ? `_${shortHash(exact)}` : ""}`),
    };
  });
}

/** The first column of nearly every index is not part of its name. */
const tenantColumn = "tenant_no";

/**
 * The order of a column is part of it. PostgreSQL orders by an index only if that places nulls as the query does, which
 * differs once a field becomes required or optional. So are the choices by whose order it sorts.
 */
export function partOf({ name, isDescending, isNullable, ranked }: Index["columns"][number]): string {
  const order = ranked ? `_rank_${shortHash(JSON.stringify(ranked))}` : "";
  return `${name}${order}${isDescending ? "_desc" : ""}${isNullable ? "_null" : ""}`;
}

/** All parts that a column can be. */
function partsOf({ name }: Pick<Index["columns"][number], "name">): string[] {
  return [false, true].flatMap((isNullable) =>
    [false, true].map((isDescending) => partOf({ name, isDescending, isNullable })),
  );
}

/** How many indexes of a table could have a name: `title_desc` is one column, or `title` in descending order. */
function readingsFor(name: string, { name: table, columns }: Pick<Table, "name" | "columns">): number {
  const parts = columns.flatMap(partsOf);
  return ["", uniqueInfix]
    .map((infix) => `${infix}${table}_`)
    .filter((start) => name.startsWith(start))
    .reduce((count, start) => count + readings(name.slice(start.length), parts), 0);
}

/** In how many ways a text is a sequence of parts, joined by `_`. */
function readings(text: string, parts: readonly string[]): number {
  // By the position from which on the text is read.
  const counts = new Map<number, number>([[text.length + 1, 1]]);
  const countFrom = (start: number): number => {
    const known = counts.get(start);
    if (known !== undefined) return known;
    const following = parts.filter((part) => `${text}_`.startsWith(`${part}_`, start));
    const count = following.reduce((sum, part) => sum + countFrom(start + part.length + 1), 0);
    counts.set(start, count);
    return count;
  };
  return countFrom(0);
}

function shortHash(text: string): string {
  return hash("sha256", text, "hex").slice(0, hashLength);
}
