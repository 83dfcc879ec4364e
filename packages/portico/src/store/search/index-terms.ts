// Words as the search index stores them. Each is prefixed with a tag of its tenant, so that a search reads the words of
// one tenant only.

import { searchWords } from "../../query/search-terms.ts";

/** The last characters of an id are random, so two tenants rarely share a tag. A condition on `tenant_id` excludes the rows of the other. */
const tagLength = 4;

export function taggedWord(tenantId: string, word: string): string {
  return tenantId.slice(-tagLength) + word;
}

/** PostgreSQL limits the words of a row to 1 MiB. On both databases, words after this many bytes are not indexed. */
const maxBytes = 900_000;

/** The words of the searched values of a row, as the column `search_words` stores them. */
export function searchText(tenantId: string, values: readonly unknown[]): string {
  const words: string[] = [];
  let bytes = 0;
  for (const word of searchWords(values.map((value) => value ?? "").join(" "))) {
    const tagged = taggedWord(tenantId, word);
    bytes += Buffer.byteLength(tagged) + 1;
    if (bytes > maxBytes) break;
    words.push(tagged);
  }
  return words.join(" ");
}
