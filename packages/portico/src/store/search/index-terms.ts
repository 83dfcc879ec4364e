// Words as the search index stores them. Each is prefixed with a tag of its tenant, so that a search reads the words of
// one tenant only.

import { searchWords } from "../../query/search-terms.ts";

/**
 * The tag is the number of the tenant, after the number of its digits: `15` is tenant 5, `237` tenant 37. So no tag
 * begins with another, and there is no separator, which would also separate words. Numbers are in base 36.
 */
export function taggedWord(tenantNo: number | null, word: string): string {
  const digits = (tenantNo ?? 0).toString(36);
  return `${digits.length}${digits}${word}`;
}

/** PostgreSQL limits the words of a row to 1 MiB. On both databases, words after this many bytes are not indexed. */
const maxBytes = 900_000;

/** The words of the searched values of a row, as the column `search_words` stores them. */
export function searchText(tenantNo: number | null, values: readonly unknown[]): string {
  const words: string[] = [];
  let bytes = 0;
  for (const word of searchWords(values.map((value) => value ?? "").join(" "))) {
    const tagged = taggedWord(tenantNo, word);
    bytes += Buffer.byteLength(tagged) + 1;
    if (bytes > maxBytes) break;
    words.push(tagged);
  }
  return words.join(" ");
}
