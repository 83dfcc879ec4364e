// The reads of code of declarations, by model: in the transaction of a write, or each as a statement of its own.

import type { Caller } from "../declare/caller.ts";
import type { ListOptions, SortOptions } from "../declare/rows.ts";
import { isId } from "../lib/id.ts";
import { codeFailure } from "../model/explained-failures.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import type { Condition, Value } from "../query/condition.ts";
import type { Position, Sort } from "../query/read.ts";
import { select } from "../query/selection.ts";
import { rowsWithin } from "../store/compile/declared-size.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { relatedWithPolicies } from "./authorize.ts";
import { policyConditions } from "./policy.ts";
import { maxListed, type ParsedListOptions, parseCodeWhere, parseListOptions } from "./row-query.ts";
import { parseStored, parseStoredRows, storedSelection } from "./stored-row.ts";

export type Row = Record<string, unknown>;

/** Where rows are read, and for whom. */
export interface RowSource {
  readonly model: Model;
  readonly store: Store;
  /** A transaction, or the database. */
  readonly session: Session;
  readonly caller: Caller;
}

/** Bytes of JSON of the rows of one list. */
const maxListedBytes = 16 * 1024 * 1024;
/** How often the first row is looked for, if others change those that are found. */
const maxAttempts = 50;

export class RowReads {
  readonly #source: RowSource;
  readonly #isRestricted: boolean;

  /** @param isRestricted whether the policies of the caller apply */
  constructor(source: RowSource, isRestricted: boolean) {
    this.#source = source;
    this.#isRestricted = isRestricted;
  }

  async get(resource: ResourceModel, id: string): Promise<Row | undefined> {
    return this.#get(resource, id, this.#policies(resource));
  }

  async list(resource: ResourceModel, where: unknown, options: ListOptions): Promise<Row[]> {
    const refuse = this.#refuse("list", resource);
    const conditions = this.conditions(resource, "list", where ?? {});
    const { sort, limit, after } = parseListOptions(resource, options, refuse);
    const position = after === undefined ? undefined : await this.#positionOf(resource, sort, after);
    const rows = await this.#read(resource, conditions, { sort, limit: limit ?? maxListed + 1 }, position);
    if (limit === undefined && rows.length > maxListed)
      refuse(
        `finds more than ${maxListed} rows; add a limit, and continue with after, the id of the last row of each list`,
      );
    return rows;
  }

  async count(resource: ResourceModel, where: unknown): Promise<number> {
    const conditions = this.conditions(resource, "count", where ?? {});
    const { store, session, caller } = this.#source;
    const read = { conditions, isAnonymous: caller.kind === "anonymous" };
    return store.count(caller.tenantId, resource, read, session);
  }

  async first(resource: ResourceModel, where: unknown, options: SortOptions): Promise<Row | undefined> {
    const conditions = this.conditions(resource, "first", where ?? {});
    const { sort } = parseListOptions(resource, options, this.#refuse("first", resource));
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const [found] = await this.#read(resource, conditions, { sort, limit: 1 }, undefined);
      if (!found) return undefined;
      // Another transaction may have changed the row before it is locked.
      const locked = await this.#get(resource, String(found.id), conditions);
      if (locked) return locked;
    }
    return this.#refuse("first", resource)("finds rows that change again and again");
  }

  #policies(resource: ResourceModel): readonly Condition[] {
    return this.#isRestricted ? policyConditions(this.#source.caller, resource) : [];
  }

  /** What rows must meet: the condition of the code, and the policies that apply. */
  protected conditions(resource: ResourceModel, operation: string, where: unknown): readonly Condition[] {
    const refuse = (remedy: string): never => this.#fail(`rows.${operation}: ${remedy}`);
    const own = parseCodeWhere(resource, where, refuse);
    if (!this.#isRestricted) return own;
    return [...relatedWithPolicies(this.#source.caller, own, false), ...this.#policies(resource)];
  }

  #refuse(operation: string, { name }: ResourceModel): (remedy: string) => never {
    return (remedy) => this.#fail(`rows.${operation} of ${name} ${remedy}`);
  }

  #fail(message: string): never {
    throw codeFailure(this.#source.model, message);
  }

  /** A row. In a transaction it is locked: a hook decides by what it reads, so that must not change before it writes. */
  async #get(
    resource: ResourceModel,
    id: string,
    conditions: readonly Condition[],
  ): Promise<Row | undefined> {
    if (!isId(id)) return undefined;
    const { store, session, caller } = this.#source;
    const read = { resource, selection: storedSelection(resource), id, conditions };
    const text = await (session === store.database
      ? store.get(caller.tenantId, read)
      : store.getLocked(caller.tenantId, read, session, "update"));
    return text === undefined ? undefined : parseStored(text);
  }

  /** The rows of a list, read in batches that are not too large. */
  async #read(
    resource: ResourceModel,
    conditions: readonly Condition[],
    { sort, limit }: Pick<ParsedListOptions, "sort"> & { readonly limit: number },
    after: Position | undefined,
  ): Promise<Row[]> {
    const { store, session, caller } = this.#source;
    const selection = storedSelection(resource);
    const isAnonymous = caller.kind === "anonymous";
    const batchSize = rowsWithin(maxListedBytes, resource);
    const rows: Row[] = [];
    let position = after;
    let size = 0;
    for (;;) {
      const pageSize = Math.min(limit - rows.length, batchSize);
      const page = { style: "cursor", limit: pageSize, position, isBackward: false } as const;
      const read = { resource, selection, conditions, words: [], sort, page, isAnonymous };
      const found = await store.list(caller.tenantId, read, session);
      size += found.rows.length;
      if (size > maxListedBytes)
        this.#refuse("list", resource)("finds rows of more than 16 MiB; use a smaller limit");
      rows.push(...parseStoredRows(resource, found.rows));
      if (!found.hasMore || rows.length >= limit) return rows;
      position = found.last;
    }
  }

  /** The position of a row. Sorted by id, the row need not exist. */
  async #positionOf(resource: ResourceModel, sort: Sort, id: string): Promise<Position> {
    const { store, session, caller } = this.#source;
    const attributes = sort.map(({ attribute }) => attribute);
    if (attributes.every(({ name }) => name === "id")) return { values: attributes.map(() => id), id };
    const read = { resource, selection: select(attributes), id, conditions: this.#policies(resource) };
    const text = isId(id) ? await store.get(caller.tenantId, read, session) : undefined;
    if (text === undefined)
      return this.#refuse(
        "list",
        resource,
      )('has an after that is not the id of a row; one that may be deleted meanwhile needs sort: "id"');
    // The database built the text from a selection that contains the attributes.
    const row = JSON.parse(text) as Readonly<Record<string, Value>>;
    return { values: attributes.map(({ name }) => row[name] ?? null), id };
  }
}
