// Runs a search in the way that costs least for its words: `compile/search.ts` has the ways, and `word-frequency.ts`
// estimates which of them suits. A way that gives up reports an incomplete page; the next one then runs.

import { defaultSort, type ResourceModel } from "../../model/model.ts";
import { type Condition, isComparison } from "../../query/condition.ts";
import type { Read } from "../../query/read.ts";
import type { ReadInput, SearchTerms } from "../compile/input.ts";
import type { ListColumns } from "../compile/list.ts";
import { isIndexed, walkedConditions } from "../compile/page-index.ts";
import { rowLimit } from "../compile/row-limit.ts";
import { isLong } from "../compile/row-size.ts";
import { compileMatchCount } from "../compile/search.ts";
import { completeness, type SearchAccess } from "../compile/search-access.ts";
import type { Session, Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { type Matches, type SearchEstimate, WordFrequencies } from "./word-frequency.ts";

/** Runs one way to search. */
export type RunSearch = (access: SearchAccess, terms: SearchTerms) => Promise<ListColumns>;

/** What reading a row, and the first row of a block, takes, as a number of entries of the index of the sort. */
const entriesPerRow = 2.5;
const entriesPerBlock = 15;
/** Matches that take less than this are sorted at once. Of 100,000 rows, a page of 20 among 400 is 5,000 entries long. */
const maxSortedEntries = 7_000;
/** How many entries a quick statement reads at most, or what takes as long: about three milliseconds. */
const maxQuickEntries = 20_000;
/** Fewer matches than this are sorted: reading the first ones in the order of creation would read as many rows. */
const minCreated = 60;
/** A search with more matches than this runs as a slow read: also if it checks words or conditions on each match. */
const maxQuickMatches = 4_000;
const maxQuickChecks = 1_000;
/** A search with more conditions than this, policies included, runs as a slow read. */
const maxQuickConditions = 20;

export class BoundedSearch {
  readonly #dialect: Dialect;
  readonly #database: Session;
  readonly #frequencies: WordFrequencies;
  readonly #counts = new Map<ResourceModel, Statement<ReadInput<Read>>>();

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
    const walked = walkedConditions(read);
    const areQuick = areQuicklyChecked(read.conditions);
    const runBounded = boundedRun(estimate, run);
    if (walked && maxWalked > 0) {
      const access = { kind: "walk", maxWalked, checkedWords: words.length, isQuick: areQuick } as const;
      const found = await runBounded(access, { indexed: [], checked: words, maxEntries: 0 });
      if (isComplete(read, found)) return found;
    }
    const access = { maxWalked: 0, checkedWords: checked.length };
    // PostgreSQL would read all matches in order to count them, and cannot compare them with an index.
    if (this.#dialect.name === "postgres")
      return await run({ ...access, kind: "sorted", isQuick: false }, { indexed, checked, maxEntries: 0 });
    const { count, blocks } = await this.#matches(input, estimate);
    const isQuick = areQuick && estimate.isIndexedRare && count <= maxQuickMatches;
    const terms = { indexed, checked, maxEntries: 0 };
    if (count > minCreated && isByCreation(read)) {
      const found = await runBounded({ ...access, kind: "created", isQuick }, terms);
      if (isComplete(read, found)) return found;
    }
    const sortedEntries = count * entriesPerRow + blocks * entriesPerBlock;
    // Nothing is known about how many matches meet the conditions, so a walk for them could be long.
    const areFiltered = read.conditions.some((each) => !walked?.includes(each));
    if (walked && sortedEntries > (areFiltered ? maxQuickEntries : maxSortedEntries)) {
      const areChecked = areFiltered || checked.length > 0;
      const isQuickSet = isQuick && (!areChecked || count <= maxQuickChecks);
      const maxEntries = isQuickSet ? Math.min(sortedEntries, maxQuickEntries) : sortedEntries;
      const set = { ...access, kind: "set", isQuick: isQuickSet } as const;
      const found = await runBounded(set, { ...terms, maxEntries: Math.floor(maxEntries) });
      if (isComplete(read, found)) return found;
    }
    return await runBounded(
      { ...access, kind: "sorted", isQuick: isQuick && sortedEntries <= maxQuickEntries },
      terms,
    );
  }

  /** The matches of the indexed words, counted by the first of the searches that share the estimate. */
  async #matches(input: ReadInput<Read>, estimate: SearchEstimate): Promise<Matches> {
    if (estimate.matches) return estimate.matches;
    const { indexed, checked } = estimate;
    const search: SearchTerms = { indexed, checked, maxEntries: 0 };
    const statement = this.#countOf(input.read.resource);
    const [[count, blocks] = []] = await this.#database.query(statement, { ...input, search });
    estimate.matches = { count: Number(count ?? 0), blocks: Number(blocks ?? 0) };
    return estimate.matches;
  }

  #countOf(resource: ResourceModel): Statement<ReadInput<Read>> {
    let statement = this.#counts.get(resource);
    if (!statement) {
      statement = compileMatchCount(this.#dialect, resource);
      this.#counts.set(resource, statement);
    }
    return statement;
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
export function isComplete(read: Read, found: ListColumns): boolean {
  const [_text, _keys, count, _total, rows = count] = found;
  return completenessOf(found) === completeness.complete || rows >= rowLimit(read);
}

export function completenessOf([_text, _keys, _count, _total, _found, value]: ListColumns):
  | number
  | undefined {
  return value;
}
