// Words as the search index keeps them: each begins with a mark of its tenant, so that the search of one tenant
// does not walk through the words of all.

import { searchWords } from "../../query/search-terms.ts";

/** The last characters of an id are random: two tenants rarely share them, and `tenant_id` keeps those apart. */
const tagLength = 4;

export function taggedWord(tenantId: string, word: string): string {
  return tenantId.slice(-tagLength) + word;
}

/** PostgreSQL finds no words beyond 1 MiB of a row; both databases leave out what comes after this. */
const maxBytes = 900_000;

/** The words of the searched values of a row, as `search_words` holds them. */
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
