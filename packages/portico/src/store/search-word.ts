// Words as the search index keeps them: each begins with a mark of its tenant, so that the search of one tenant
// does not walk through the words of all.

import { wordsOf } from "../plan/words.ts";

/** The last characters of an id are random: two tenants rarely share them, and `tenant_id` keeps those apart. */
const tagLength = 4;

export function taggedWord(tenantId: string, word: string): string {
  return tenantId.slice(-tagLength) + word;
}

/** The words of the searched values of a row, as `search_words` holds them. */
export function searchText(tenantId: string, values: readonly unknown[]): string {
  const words = wordsOf(values.map((value) => value ?? "").join(" "));
  return words.map((word) => taggedWord(tenantId, word)).join(" ");
}
