// Estimates how frequent words are among the rows of a tenant, from its newest rows. Estimates decide how a search runs,
// never what it returns, so they are cached for a few seconds.

import { type RawBuilder, sql } from "kysely";
import { BoundedMap } from "../../lib/bounded-map.ts";
import type { ResourceModel } from "../../model/model.ts";
import { isLongRow } from "../compile/row-size.ts";
import type { Session, Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { compile, parameter } from "../statement.ts";
import { containedWord } from "./index-terms.ts";

/** How to find the rows that contain all words of a search. It is an estimate. */
export interface SearchEstimate {
  /** How many rows to check before the search index is asked for all matches; 0 if few rows contain all words. */
  readonly maxWalked: number;
  /** Words for the search index: the rare ones, or all words if all are frequent but rarely occur together. */
  readonly indexed: readonly string[];
  /** Frequent words, which are checked on each row that contains the others. */
  readonly checked: readonly string[];
  /** Whether the index finds few rows for each of its words. */
  readonly isIndexedRare: boolean;
  /** Quick statements do not read rows with longer texts than this. */
  readonly maxRowBytes: number;
  /** The matches of the indexed words, once a search has counted them. */
  matches: Matches | undefined;
  /** Whether a search found a row with longer texts. */
  hasLongRows: boolean;
}

export interface Matches {
  readonly count: number;
  /** How many blocks of successive rows they are in. Rows of one block are read together. */
  readonly blocks: number;
}

interface SampleInput {
  readonly tenantNo: number | null;
  readonly words: readonly string[];
}

/**
 * How many rows are sampled, and which part of the walked rows is walked, by the size of their search words. Rows with
 * more are not read in order to check them. The newest rows say nothing about others, so quick statements leave out any
 * row that is longer than `maxRowBytes`.
 */
const sizes = [
  { maxBytes: 2_000, maxRowBytes: 4_000, sampled: 300, walkedPart: 1 },
  { maxBytes: 16_000, maxRowBytes: 32_000, sampled: 80, walkedPart: 1 / 8 },
] as const;
type Size = (typeof sizes)[number];
const measuredRows = 50;

/**
 * The share of rows from which on a word is frequent, and how many rows are then walked at most. With 100,000 rows, finding
 * a page of 20 rows by checking rows and by reading all matches take equally long for a word with this share. Matches
 * cost more on PostgreSQL, which reads each row.
 */
const limits = {
  sqlite: { frequentShare: 0.04, maxWalked: 1_200 },
  postgres: { frequentShare: 0.0125, maxWalked: 3_000 },
} as const;

/** The maximum number of words that are sampled, and so checked on rows. */
const maxSampledWords = 8;

const maxAgeMs = 10_000;
const maxCachedBytes = 4 * 1024 * 1024;
/** What an entry of a cache takes beside the characters of its key. */
const entryBytes = 500;

interface Cached<Value> {
  readonly value: Value;
  readonly until: number;
}

export class WordFrequencies {
  readonly #dialect: Dialect;
  readonly #database: Session;
  readonly #estimates = new BoundedMap<string, Cached<SearchEstimate>>(maxCachedBytes, bytesOfEntry);
  readonly #sizes = new BoundedMap<string, Cached<number>>(maxCachedBytes, bytesOfEntry);
  /** As many as there are resources, sample sizes and numbers of words. */
  readonly #statements = new Map<string, Statement<SampleInput>>();

  constructor(dialect: Dialect, database: Session) {
    this.#dialect = dialect;
    this.#database = database;
  }

  async estimate(
    tenantNo: number | null,
    resource: ResourceModel,
    words: readonly string[],
  ): Promise<SearchEstimate> {
    const key = `${resource.table} ${tenantNo} ${words.join(" ")}`;
    const known = this.#estimates.get(key);
    if (known && known.until > Date.now()) return known.value;
    const value = await this.#sample(tenantNo, resource, words);
    this.#estimates.set(key, { value, until: Date.now() + maxAgeMs });
    return value;
  }

  async #sample(
    tenantNo: number | null,
    resource: ResourceModel,
    words: readonly string[],
  ): Promise<SearchEstimate> {
    const bytes = await this.#averageBytes(tenantNo, resource);
    const size = sizes.find(({ maxBytes }) => bytes <= maxBytes);
    if (!size) return estimateOf(words, [], [], 1, 0, 0);
    // Longer words are rarer.
    const sampled = [...words].sort((one, other) => other.length - one.length).slice(0, maxSampledWords);
    const statement = this.#sampleOf(resource, sampled.length, size);
    const [counts = []] = await this.#database.query(statement, { tenantNo, words: sampled });
    const [rows = 0, ...found] = counts.map(Number);
    const shares = found.map((count) => (rows === 0 ? 0 : count / rows));
    const { frequentShare, maxWalked } = limits[this.#dialect.name];
    return estimateOf(words, sampled, shares, frequentShare, maxWalked * size.walkedPart, size.maxRowBytes);
  }

  /** The average size of the search words of a row, in bytes. */
  async #averageBytes(tenantNo: number | null, resource: ResourceModel): Promise<number> {
    const key = `${resource.table} ${tenantNo}`;
    const known = this.#sizes.get(key);
    if (known && known.until > Date.now()) return known.value;
    const statement = this.#statement(`${resource.table} bytes`, () =>
      this.#overNewest(resource, measuredRows, [sql`avg(octet_length(r.search_words))`]),
    );
    const [row] = await this.#database.query(statement, { tenantNo, words: [] });
    const value = Number(row?.[0] ?? 0);
    this.#sizes.set(key, { value, until: Date.now() + maxAgeMs });
    return value;
  }

  /** Counts rows, those that contain each word, and those that contain all words. Long rows contain none. */
  #sampleOf(resource: ResourceModel, words: number, { sampled, maxRowBytes }: Size): Statement<SampleInput> {
    return this.#statement(`${resource.table} ${words} ${sampled}`, () => {
      const isLong = isLongRow(this.#dialect, resource, maxRowBytes);
      const searched = isLong
        ? sql`case when ${isLong} then '' else r.search_words end`
        : sql`r.search_words`;
      const contains = Array.from({ length: words }, (_, index) => {
        const word = parameter(({ words }: SampleInput) => containedWord(words[index]!));
        return sql`${this.#dialect.positionIn(sql.ref("r.search_words"), word)} > 0`;
      });
      const counts = [...contains, sql.join(contains, sql` and `)].map(
        (condition) => sql`count(*) filter (where ${condition})`,
      );
      return this.#overNewest(resource, sampled, [sql`count(*)`, ...counts], searched);
    });
  }

  /** Aggregates the newest rows of a tenant. Ids are in the order of creation. */
  #overNewest(
    { table }: ResourceModel,
    rows: number,
    columns: readonly RawBuilder<unknown>[],
    searched: RawBuilder<unknown> = sql`r.search_words`,
  ): RawBuilder<unknown> {
    const newest = sql`select ${searched} as search_words from ${sql.table(table)} as r where r.tenant_no = ${parameter(({ tenantNo }: SampleInput) => tenantNo, "tenant of the sample")} order by r.id desc limit ${sql.lit(rows)}`;
    return sql`select ${sql.join(columns)} from (${newest}) as r`;
  }

  #statement(key: string, build: () => RawBuilder<unknown>): Statement<SampleInput> {
    let statement = this.#statements.get(key);
    if (!statement) {
      statement = compile<SampleInput>(this.#dialect.builder, build());
      this.#statements.set(key, statement);
    }
    return statement;
  }
}

function bytesOfEntry(key: string): number {
  return key.length + entryBytes;
}

/**
 * @param sampled the words that were sampled
 * @param shares of the sampled rows that contain each sampled word, and all of them
 */
function estimateOf(
  words: readonly string[],
  sampled: readonly string[],
  shares: readonly number[],
  frequentShare: number,
  maxWalked: number,
  maxRowBytes: number,
): SearchEstimate {
  const isFrequent = (word: string): boolean => (shares[sampled.indexOf(word)] ?? 0) >= frequentShare;
  const rare = words.filter((word) => !isFrequent(word));
  const isAllSampled = sampled.length === words.length;
  return {
    maxWalked: isAllSampled && (shares.at(-1) ?? 0) >= frequentShare ? maxWalked : 0,
    indexed: rare.length > 0 ? rare : words,
    checked: rare.length > 0 ? words.filter(isFrequent) : [],
    isIndexedRare: isAllSampled && rare.length > 0,
    maxRowBytes,
    matches: undefined,
    hasLongRows: false,
  };
}
