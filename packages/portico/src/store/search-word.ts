// Words as the search index keeps them: each begins with a mark of its tenant, so that the search of one tenant
// does not walk through the words of all.

/** The last characters of an id are random: two tenants rarely share them, and `tenant_id` keeps those apart. */
const tagLength = 4;

export function taggedWord(tenantId: string, word: string): string {
  return tenantId.slice(-tagLength) + word;
}
