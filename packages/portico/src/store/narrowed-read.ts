// Lists whose conditions look at related rows: "projects of which the caller is a member", "posts whose author is an
// editor". Where few rows meet such a condition, they are found first, by the indexes of the related rows, and the list is
// read by their ids. Otherwise the list is walked in its order, and the condition is checked on each row: where many rows
// meet it, a page is found soon.
//
// The statement of the list checks the condition again, because rows may have changed since they were found: what it
// shows meets all conditions at one time.

import { hash } from "node:crypto";
import { BoundedMap } from "../lib/bounded-map.ts";
import type { ResourceModel } from "../model/model.ts";
import { type Comparison, conditionShape, isComparison } from "../query/condition.ts";
import type { StoredPage } from "../query/page.ts";
import type { Read } from "../query/read.ts";
import { compileFewRows, type FewRows, fewReferring } from "./compile/few-rows.ts";
import type { ReadInput, SearchTerms } from "./compile/input.ts";
import type { ListColumns } from "./compile/list.ts";
import { isIndexed } from "./compile/page-index.ts";
import { completeness, type SearchAccess } from "./compile/search-access.ts";
import type { ColumnValues, Session, Statement } from "./database.ts";
import type { Dialect } from "./dialect.ts";
import { comparisonFor, filled, linkedComparison, maxRows } from "./narrowed-comparison.ts";
import { pageOf } from "./page.ts";
import { relatedWalk } from "./related-walk.ts";
import { completenessOf, isComplete } from "./search/bounded-search.ts";
import { Shapes } from "./shapes.ts";

/** How long the rows of a range of an index count as many, and how many such ranges are remembered. */
const longRangeMs = 60_000;
const maxLongRanges = 10_000;
/** Characters by which such a range is identified; a hash takes the place of more. */
const maxRangeLength = 200;

/** Runs a statement of a list. */
type RunList = (input: ReadInput<Read>, access?: SearchAccess) => Promise<ListColumns>;

const noTerms: SearchTerms = Object.freeze({ indexed: [], checked: [], maxEntries: 0 });

export class NarrowedReads {
  readonly #dialect: Dialect;
  readonly #database: Session;
  readonly #statements = new Shapes<Statement<ReadInput<FewRows>>>();
  /** Ranges of indexes that had more than a few rows, and when, on the clock of `performance.now()`. */
  readonly #longRanges = new BoundedMap<string, number>(maxLongRanges);

  constructor(dialect: Dialect, database: Session) {
    this.#dialect = dialect;
    this.#database = database;
  }

  /** Whether conditions on related rows decide about the rows of a list. */
  mayNarrow({ resource, conditions, words }: Read): boolean {
    // Conditions on deleted rows compare deletions too, which no statement here does.
    return !resource.deletedOf && words.length === 0 && !conditions.every(isComparison);
  }

  /** A page of rows that meet conditions on related rows. */
  async list(input: ReadInput<Read>, run: RunList): Promise<StoredPage> {
    const { read } = input;
    const few = this.#accessOf(input);
    if (few) {
      const columns = await run({ ...input, search: noTerms }, few);
      if (completenessOf(columns) === completeness.complete) return pageOf(read, columns);
      this.#addLongRange(input);
    }
    const narrowed = await this.#narrow(input);
    const walk = narrowed === input ? relatedWalk(read) : undefined;
    if (walk) {
      const columns = await run({ ...input, search: noTerms }, walk);
      if (isComplete(read, columns)) return pageOf(read, columns);
    }
    return pageOf(narrowed.read, await run(narrowed));
  }

  /**
   * How the statement of a list finds the rows that meet such a condition first; undefined if it cannot, or they were
   * more than a few.
   */
  #accessOf({ tenantNo, read }: ReadInput<Read>): SearchAccess | undefined {
    if (read.page.style === "page" || isIndexed(read)) return undefined;
    const few = fewReferring(read);
    if (!few || this.#isLong(rangeOf(tenantNo, few.condition.resource, few.anchor))) return undefined;
    return { kind: "few", maxWalked: 0, checkedWords: 0, isQuick: true };
  }

  /** Remembers that the rows that `#accessOf` looks for are more than a few. */
  #addLongRange({ tenantNo, read }: ReadInput<Read>): void {
    const { condition, anchor } = fewReferring(read)!;
    this.#longRanges.set(rangeOf(tenantNo, condition.resource, anchor), performance.now());
  }

  /** The read with the ids of the rows that meet the first condition which few rows meet; the same read if there is none. */
  async #narrow(input: ReadInput<Read>): Promise<ReadInput<Read>> {
    const { read } = input;
    if (isIndexed(read)) return input;
    const { isAnonymous = false } = read;
    const find = (rows: FewRows) => this.#find({ ...input, read: { ...rows, isAnonymous } });
    const search = { find, statements: 0 };
    for (const condition of read.conditions) {
      if (isComparison(condition)) continue;
      const comparison =
        (await linkedComparison(search, condition)) ??
        (await comparisonFor(search, read.resource, condition));
      if (!comparison) continue;
      const conditions = [...read.conditions, filled(comparison)];
      return { ...input, read: { ...read, conditions, impliedCondition: condition } };
    }
    return input;
  }

  /** The rows, undefined if they are more than a few. Then it is not tried again for some time. */
  async #find(input: ReadInput<FewRows>): Promise<readonly ColumnValues[] | undefined> {
    const { resource, conditions } = input.read;
    const range = rangeOf(input.tenantNo, resource, conditions[0]);
    if (this.#isLong(range)) return undefined;
    const rows = await this.#database.query(this.#statementOf(input.read), input);
    if (rows.length <= maxRows) return rows;
    this.#longRanges.set(range, performance.now());
    return undefined;
  }

  #isLong(range: string): boolean {
    const foundAt = this.#longRanges.get(range);
    return foundAt !== undefined && performance.now() - foundAt < longRangeMs;
  }

  #statementOf(rows: FewRows): Statement<ReadInput<FewRows>> {
    const shape = `${rows.column.name}|${conditionShape(rows.conditions)}`;
    return this.#statements.get(rows.resource, shape, () => compileFewRows(this.#dialect, rows, maxRows));
  }
}

/** Identifies the range of an index that has the values of a comparison, by a text of bounded length. */
function rangeOf(
  tenantNo: number | null,
  { name }: ResourceModel,
  { attribute, values }: Comparison,
): string {
  const range = JSON.stringify([tenantNo, name, attribute.name, ...values]);
  return range.length > maxRangeLength ? hash("sha256", range) : range;
}
