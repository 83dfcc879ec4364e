// The store: plans in, JSON text out. It compiles each shape of a plan once and keeps the statement.

import type { Attribute, ResourceModel } from "../declare/model.ts";
import { BoundedMap } from "../plan/bounded-map.ts";
import { type Page, rowSeparator } from "../plan/page.ts";
import { conditionShape, type Position, type Read, type ReadOne, type Value } from "../plan/read.ts";
import type { Delete, Insert, RowValues, Update } from "../plan/write.ts";
import {
  compileFilterIds,
  compileGet,
  compileList,
  type ListColumns,
  listShape,
  needsKeys,
  type RowsById,
} from "./compile-read.ts";
import type { ReadInput } from "./compile-row.ts";
import { compileDelete, compileInsert, compileUpdate } from "./compile-write.ts";
import type { Database, Session, Statement, Transaction } from "./database.ts";
import type { Dialect, Lock } from "./dialect.ts";

/** Compiled statements kept for each resource and operation; a usual one is a few kilobytes of text and closures. */
const mostShapes = 500;
/** Characters of the shape of such a one; longer shapes count as several. */
const usualShape = 100;

/** Statements by the resource they are for and the shape of the plan. */
class Statements<Input> {
  readonly #kept = new WeakMap<ResourceModel, BoundedMap<string, Statement<Input>>>();

  get(resource: ResourceModel, shape: string, make: () => Statement<Input>): Statement<Input> {
    let ofResource = this.#kept.get(resource);
    if (!ofResource) {
      ofResource = new BoundedMap(mostShapes, (text) => Math.ceil(text.length / usualShape) || 1);
      this.#kept.set(resource, ofResource);
    }
    const known = ofResource.get(shape);
    if (known) return known;
    const made = make();
    ofResource.set(shape, made);
    return made;
  }
}

export class Store {
  readonly dialect: Dialect;
  readonly database: Database;
  readonly #lists = new Statements<ReadInput<Read>>();
  readonly #gets = new Statements<ReadInput<ReadOne>>();
  readonly #filters = new Statements<ReadInput<RowsById>>();
  readonly #updates = new Statements<Update>();
  readonly #inserts = new Statements<Insert>();
  readonly #deletes = new Statements<Delete>();

  constructor(dialect: Dialect, database: Database) {
    this.dialect = dialect;
    this.database = database;
  }

  /** A page of a tenant's rows. */
  async list(tenantId: string, read: Read, session: Session = this.database): Promise<Page> {
    const statement = this.#lists.get(read.resource, listShape(this.dialect, read), () =>
      compileList(this.dialect, read),
    );
    const [columns] = await session.query(statement, { tenantId, read });
    // The statement has these four columns.
    return pageOf(read, columns as unknown as ListColumns);
  }

  /** A row as JSON text, or undefined where the tenant has none with this id that meets the conditions. */
  get(tenantId: string, read: ReadOne, session: Session = this.database): Promise<string | undefined> {
    return this.#get(tenantId, read, session, undefined);
  }

  /** The same inside a transaction that goes on to write the row: nobody else writes it until then. */
  getLocked(tenantId: string, read: ReadOne, session: Session, lock: Lock): Promise<string | undefined> {
    return this.#get(tenantId, read, session, lock);
  }

  async #get(
    tenantId: string,
    read: ReadOne,
    session: Session,
    lock: Lock | undefined,
  ): Promise<string | undefined> {
    const { resource, selection, conditions } = read;
    // A key has the sign only inside brackets.
    const shape =
      conditions.length === 0 && !lock
        ? selection.key
        : `${selection.key}|${conditionShape(conditions)}|${lock}`;
    const statement = this.#gets.get(resource, shape, () => compileGet(this.dialect, read, lock));
    const [row] = await session.query(statement, { tenantId, read });
    return row?.[0] as string | undefined;
  }

  /** Those of some ids whose rows meet conditions. */
  async filterIds(
    tenantId: string,
    resource: ResourceModel,
    read: RowsById,
    session: Session = this.database,
  ): Promise<ReadonlySet<string>> {
    const { ids, conditions } = read;
    if (ids.length === 0) return new Set();
    const statement = this.#filters.get(resource, conditionShape(conditions), () =>
      compileFilterIds(this.dialect, resource, conditions),
    );
    const rows = await session.query(statement, { tenantId, read });
    return new Set(rows.map(([id]) => id as string));
  }

  /** Runs `work` in a transaction; what it answers with is on disk when it comes back. */
  transaction<T>(work: (session: Transaction) => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }

  /** Adds a row and answers with its JSON text. */
  async insert(session: Session, insert: Insert): Promise<string> {
    const { resource } = insert;
    const statement = this.#inserts.get(resource, "", () => compileInsert(this.dialect, resource));
    const [row] = await session.query(statement, insert);
    return row![0] as string;
  }

  /** Changes a row and answers with its JSON text, or undefined where there is none. */
  async update(session: Session, update: Update): Promise<string | undefined> {
    const changed = changedAttributes(update.resource, update.values);
    const shape = changed.map(({ name }) => name).join();
    const statement = this.#updates.get(update.resource, shape, () =>
      compileUpdate(this.dialect, update.resource, changed),
    );
    const [row] = await session.query(statement, update);
    return row?.[0] as string | undefined;
  }

  /** Removes a row and answers with its last JSON text, or undefined where there was none. */
  async delete(session: Session, removal: Delete): Promise<string | undefined> {
    const { resource } = removal;
    const statement = this.#deletes.get(resource, "", () => compileDelete(this.dialect, resource));
    const [row] = await session.query(statement, removal);
    return row?.[0] as string | undefined;
  }
}

function changedAttributes(resource: ResourceModel, values: RowValues): Attribute[] {
  return resource.attributes.filter(({ name }) => Object.hasOwn(values, name));
}

/** Cuts the surplus row, which only tells that there are more, and finds the places where the page begins and ends. */
function pageOf(read: Read, [text, keys, count, total]: ListColumns): Page {
  const { page } = read;
  const found = Number(count);
  if (found === 0) {
    return {
      rows: "[]",
      count: 0,
      hasMore: false,
      first: undefined,
      last: undefined,
      total: numberOf(total),
    };
  }
  if (page.style === "page") {
    const hasMore = page.number * page.limit < Number(total);
    return {
      rows: `[${text}]`,
      count: found,
      hasMore,
      first: undefined,
      last: undefined,
      total: Number(total),
    };
  }
  if (page.style === "first") {
    return {
      rows: `[${text}]`,
      count: found,
      hasMore: false,
      first: undefined,
      last: undefined,
      total: undefined,
    };
  }
  const hasMore = found > page.limit;
  const cut = (all: string): string => {
    if (!hasMore) return all;
    return page.isBackward
      ? all.slice(all.indexOf(rowSeparator) + rowSeparator.length)
      : all.slice(0, all.lastIndexOf(rowSeparator));
  };
  const rows = cut(text!);
  const placed = { rows: `[${rows}]`, count: Math.min(found, page.limit), hasMore, total: undefined };
  if (!needsKeys(read)) return { ...placed, ...rowEnds(read, rows) };
  const cutKeys = cut(keys!);
  if (!page.isEveryPlaceTold) return { ...placed, ...keyEnds(cutKeys) };
  const places = cutKeys.split(rowSeparator).map(positionOf);
  return { ...placed, places, first: places[0], last: places.at(-1) };
}

function numberOf(total: number | string | null): number | undefined {
  return total === null ? undefined : Number(total);
}

interface Ends {
  readonly first: Position;
  readonly last: Position;
}

/** Only the first and the last row of a page are parsed. */
function rowEnds({ sort }: Read, rows: string): Ends {
  const position = (row: string): Position => {
    // The text was made by the database from the selection, which shows both.
    const parsed = JSON.parse(row) as Record<string, Value> & { id: string };
    return { value: parsed[sort.attribute.name]!, id: parsed.id };
  };
  return { first: position(firstOf(rows)), last: position(lastOf(rows)) };
}

function keyEnds(keys: string): Ends {
  return { first: positionOf(firstOf(keys)), last: positionOf(lastOf(keys)) };
}

function positionOf(key: string): Position {
  const [value, id] = JSON.parse(key) as [Value, string];
  return { value, id };
}

function firstOf(texts: string): string {
  const end = texts.indexOf(rowSeparator);
  return end < 0 ? texts : texts.slice(0, end);
}

function lastOf(texts: string): string {
  const end = texts.lastIndexOf(rowSeparator);
  return end < 0 ? texts : texts.slice(end + rowSeparator.length);
}
