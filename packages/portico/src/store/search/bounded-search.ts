// Runs a search in the way that costs least for its words: `compile/search.ts` has the ways, and `word-frequency.ts`
// estimates which of them suits. A way that gives up reports an incomplete page; the next one then runs.

import type { Read } from "../../query/read.ts";
import type { ReadInput, SearchTerms } from "../compile/input.ts";
import type { ListColumns } from "../compile/list.ts";
import { walkedConditions } from "../compile/page-index.ts";
import { rowLimit } from "../compile/row-limit.ts";
import type { SearchAccess } from "../compile/search.ts";
import type { Session } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { WordFrequencies } from "./word-frequency.ts";

/** Runs one way to search. */
export type RunSearch = (access: SearchAccess, terms: SearchTerms) => Promise<ListColumns>;

/** SQLite reads and sorts this many matches about as fast as it walks an index to find the first page of them. */
const maxSorted = 500;
/** A search with more matches than this runs as a slow read. */
const maxQuickMatches = 2_000;
const unlimited = Number.MAX_SAFE_INTEGER;

export class BoundedSearch {
  readonly #frequencies: WordFrequencies;

  constructor(dialect: Dialect, database: Session) {
    this.#frequencies = new WordFrequencies(dialect, database);
  }

  async list({ tenantNo, read }: ReadInput<Read>, run: RunSearch): Promise<ListColumns> {
    const { resource, words } = read;
    const estimate = await this.#frequencies.estimate(tenantNo, resource, words);
    const { maxWalked, indexed, checked } = estimate;
    const canWalk = walkedConditions(read) !== undefined;
    if (canWalk && maxWalked > 0) {
      const access = { kind: "walk", maxWalked, checkedWords: words.length, isQuick: true } as const;
      const found = await run(access, { indexed: [], checked: words, maxSorted });
      if (isComplete(read, found)) return found;
    }
    const access = { kind: "matches", maxWalked: 0, checkedWords: checked.length } as const;
    const isQuick = canWalk && estimate.isIndexedRare && (estimate.matches ?? unlimited) <= maxQuickMatches;
    const found = await run({ ...access, isQuick }, { indexed, checked, maxSorted });
    const matches = found[6];
    estimate.matches = matches ?? undefined;
    // Only SQLite, which counts them, may have given up.
    if (matches === null || isComplete(read, found)) return found;
    return await run({ ...access, isQuick: false }, { indexed, checked, maxSorted: unlimited });
  }
}

/** Whether no row of the page can be missing. */
function isComplete(read: Read, [_text, _keys, count, _total, found = count, isWhole]: ListColumns): boolean {
  return isWhole === 1 || found >= rowLimit(read);
}
