// The words of a row as the search index stores them.
//
// The column `search_words` holds a space and a word for each distinct word of the searched fields: " analytical engine".
// A row contains a word that begins with "ana" if the column contains " ana". The search index holds the same words, each
// prefixed with a tag of its tenant, so that a search reads the words of one tenant only. The database adds the tags when
// it indexes the row (`taggedText`), so that rows do not store them.

import { type RawBuilder, sql } from "kysely";
import { searchWords } from "../../query/search-terms.ts";
import { searchColumn } from "../schema/table.ts";

/**
 * The tag is the number of the tenant, after the number of its digits: `15` is tenant 5, `237` tenant 37. So no tag
 * begins with another, and there is no separator, which would also separate words. A change of the tag is also one of
 * `tagIn` and of `searchFormat`.
 */
export function taggedWord(tenantNo: number | null, word: string): string {
  const digits = String(tenantNo ?? 0);
  return `${digits.length}${digits}${word}`;
}

/** The tag in SQL. @param alias of the row, with a dot: `new.` */
function tagIn(alias: string): RawBuilder<string> {
  const digits = sql`cast(${sql.raw(alias)}tenant_no as text)`;
  return sql`cast(length(${digits}) as text) || ${digits}`;
}

/** The search words of a row as the search index stores them, separated by spaces. @param alias as of `tagIn` */
export function taggedText(alias = ""): RawBuilder<string> {
  return sql`ltrim(replace(${sql.raw(alias)}${sql.ref(searchColumn)}, ' ', ' ' || ${tagIn(alias)}))`;
}

/** The text that `search_words` contains if a word of the row begins with this word. */
export function containedWord(word: string): string {
  return ` ${word}`;
}

/**
 * PostgreSQL limits the words of a row to 1 MiB, with their tags. On both databases, words after this many bytes are not
 * indexed.
 */
const maxBytes = 900_000;
const maxTagBytes = 8;

/** The words of the searched values of a row, as the column `search_words` stores them. */
export function searchText(values: readonly unknown[]): string {
  let text = "";
  let bytes = 0;
  for (const word of searchWords(values.map((value) => value ?? "").join(" "))) {
    bytes += Buffer.byteLength(word) + 1 + maxTagBytes;
    if (bytes > maxBytes) break;
    text += containedWord(word);
  }
  return text;
}
