// Runs a search in the way that costs least for its words: `compile/search.ts` has the ways, and `word-frequency.ts`
// estimates which of them suits. A way that gives up reports an incomplete page; the next one then runs.

import { defaultSort } from "../../model/model.ts";
import { type Condition, isComparison } from "../../query/condition.ts";
import type { Read } from "../../query/read.ts";
import type { ReadInput, SearchTerms } from "../compile/input.ts";
import type { ListColumns } from "../compile/list.ts";
import { isIndexed, walkedConditions } from "../compile/page-index.ts";
import { rowLimit } from "../compile/row-limit.ts";
import { isLong } from "../compile/row-size.ts";
import { compileMatchCount } from "../compile/search.ts";
import { completeness, type SearchAccess } from "../compile/search-access.ts";
import type { Session } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { type SearchEstimate, WordFrequencies } from "./word-frequency.ts";

/** Runs one way to search. */
export type RunSearch = (access: SearchAccess, terms: SearchTerms) => Promise<ListColumns>;

/** Of 100,000 rows, sorting this many matches takes as long as walking the index of the sort for a page of them. */
const maxSorted = 400;
/** How many entries of the index of the sort are walked for each match, before the matches are sorted after all. */
const entriesPerMatch = 14;
/** Fewer matches than this are sorted: reading the first ones in the order of creation would read as many rows. */
const minCreated = 60;
/** A search with more matches than this runs as a slow read. */
const maxQuickMatches = 4_000;
/** A search with more conditions than this, policies included, runs as a slow read. */
const maxQuickConditions = 20;

export class BoundedSearch {
  readonly #dialect: Dialect;
  readonly #database: Session;
  readonly #frequencies: WordFrequencies;

  constructor(dialect: Dialect, database: Session) {
    this.#dialect = dialect;
    this.#database = database;
    this.#frequencies = new WordFrequencies(dialect, database);
  }

  async list(input: ReadInput<Read>, run: RunSearch): Promise<ListColumns> {
    const { tenantNo, read } = input;
    const { resource, words } = read;
    const estimate = await this.#frequencies.estimate(tenantNo, resource, words);
    const { maxWalked, indexed, checked } = estimate;
    const canWalk = walkedConditions(read) !== undefined;
    const areQuick = areQuicklyChecked(read.conditions);
    const runBounded = boundedRun(estimate, run);
    if (canWalk && maxWalked > 0) {
      const access = { kind: "walk", maxWalked, checkedWords: words.length, isQuick: areQuick } as const;
      const found = await runBounded(access, { indexed: [], checked: words, maxEntries: 0 });
      if (isComplete(read, found)) return found;
    }
    const access = { maxWalked: 0, checkedWords: checked.length };
    // PostgreSQL would read all matches in order to count them, and cannot compare them with an index.
    if (this.#dialect.name === "postgres")
      return await run({ ...access, kind: "sorted", isQuick: false }, { indexed, checked, maxEntries: 0 });
    const matches = await this.#matches(input, estimate);
    const isQuick = areQuick && estimate.isIndexedRare;
    const terms = { indexed, checked, maxEntries: matches * entriesPerMatch };
    if (matches > minCreated && isByCreation(read)) {
      const created = { ...access, kind: "created", isQuick: isQuick && matches <= maxQuickMatches } as const;
      const found = await runBounded(created, terms);
      if (isComplete(read, found)) return found;
    }
    if (canWalk && matches > maxSorted) {
      const set = { ...access, kind: "set", isQuick: isQuick && matches <= maxQuickMatches } as const;
      const found = await runBounded(set, terms);
      if (isComplete(read, found)) return found;
    }
    return await runBounded({ ...access, kind: "sorted", isQuick: isQuick && matches <= maxSorted }, terms);
  }

  /** The number of matches of the indexed words, at the first of the searches that share the estimate. */
  async #matches(input: ReadInput<Read>, estimate: SearchEstimate): Promise<number> {
    if (estimate.matches !== undefined) return estimate.matches;
    const { indexed, checked } = estimate;
    const statement = compileMatchCount(this.#dialect, input.read);
    const search: SearchTerms = { indexed, checked, maxEntries: 0 };
    const [row] = await this.#database.query(statement, { ...input, search });
    estimate.matches = Number(row?.[0] ?? 0);
    return estimate.matches;
  }
}

/** Runs a quick way again as a slow read if it finds a row that is too long for it. */
function boundedRun(estimate: SearchEstimate, run: RunSearch): RunSearch {
  return async (access, terms) => {
    if (!access.isQuick || access.checkedWords === 0) return await run(access, terms);
    if (!estimate.hasLongRows) {
      const found = await run({ ...access, maxRowBytes: estimate.maxRowBytes }, terms);
      if (completenessOf(found) !== completeness.hasLongRow) return found;
      estimate.hasLongRows = true;
    }
    return await run({ ...access, isQuick: false }, terms);
  };
}

/**
 * Whether many rows can be checked for conditions in little time. Related rows can be many for each row, and long texts
 * take long to read.
 */
function areQuicklyChecked(conditions: readonly Condition[], state = { comparisons: 0 }): boolean {
  return conditions.every((condition) => {
    if (condition.operator === "some") return false;
    state.comparisons += 1;
    if (state.comparisons > maxQuickConditions) return false;
    return isComparison(condition)
      ? !isLong(condition.attribute)
      : areQuicklyChecked(condition.conditions, state);
  });
}

/** Whether the rows of the page are in the order of creation, and an index finds the position of a cursor in it. */
export function isByCreation(read: Read): boolean {
  const [{ attribute }, ...others] = read.sort;
  return attribute.name === defaultSort && others.length === 0 && isIndexed({ ...read, conditions: [] });
}

/** Whether no row of the page can be missing. */
function isComplete(read: Read, found: ListColumns): boolean {
  const [_text, _keys, count, _total, rows = count] = found;
  return completenessOf(found) === completeness.complete || rows >= rowLimit(read);
}

function completenessOf([_text, _keys, _count, _total, _found, value]: ListColumns): number | undefined {
  return value;
}
