// The interface for reading, creating and altering tables; each database implements it.

import type { RawBuilder } from "kysely";
import type { Maintenance, Session } from "../database.ts";
import type { Counter, ExistingCounters } from "./counter.ts";
import type { Column, ColumnType, ElementIndex, Index, Table } from "./table.ts";

export interface ExistingTable {
  /** For a type that Portico does not use, `type` is the name of the database. */
  readonly columns: ReadonlyMap<
    string,
    Readonly<ExistingColumn> & { readonly type: ColumnType | (string & {}) }
  >;
  readonly indexes: ReadonlySet<string>;
  /** Invalid indexes, whose creation was interrupted. */
  readonly brokenIndexes: ReadonlySet<string>;
  /** The columns of indexes that the database does not drop together with a column. */
  readonly indexColumns: ReadonlyMap<string, readonly string[]>;
  /** The referenced table, by column. */
  readonly references: ReadonlyMap<string, string>;
  /** Columns whose references were added, but not yet checked in all rows, because the migration was interrupted. */
  readonly uncheckedReferences: ReadonlySet<string>;
  /** Names of search indexes: on SQLite, of their triggers. */
  readonly searches: ReadonlySet<string>;
  /** The indexes of elements that triggers write: the column of the list by the name of the index. */
  readonly elementIndexes: ReadonlyMap<string, string>;
  /** The counters of its rows. */
  readonly counters: ExistingCounters;
}

interface ExistingColumn {
  type: string;
  isNullable: boolean;
  hasDefault: boolean;
  /** Whether it is computed from other columns. */
  isComputed?: boolean;
  /** The default in SQL, where tables are recreated with it. */
  defaultText?: string;
}

/** An existing table while the catalogue is read. */
export class TableDescription implements ExistingTable {
  readonly columns = new Map<string, ExistingColumn>();
  readonly indexes = new Set<string>();
  readonly brokenIndexes = new Set<string>();
  readonly indexColumns = new Map<string, string[]>();
  readonly references = new Map<string, string>();
  readonly uncheckedReferences = new Set<string>();
  readonly searches = new Set<string>();
  readonly elementIndexes = new Map<string, string>();
  readonly counters = new Map<string, { readonly isComplete: boolean }>();
}

/** Foreign keys: statements that add them in the transaction, and statements that validate them after it. */
export interface References {
  readonly added: readonly RawBuilder<unknown>[];
  readonly checked: readonly RawBuilder<unknown>[];
}

type Unlock = () => void;

export interface TableDialect {
  /** Statements to run before and after the transaction of a migration, outside it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Waits until no other migration runs, and excludes others until it is unlocked, or the process ends. */
  lock(session: Maintenance): Promise<Unlock>;
  /** Limits how long the transaction waits for a lock, because requests queue behind it. */
  limitLockWait(session: Session): Promise<void>;
  /** Whether a transaction failed because other transactions hold locks on the tables. */
  isBlocked(error: unknown): boolean;
  /** Whether a statement failed because a row lacks a value of a required column. */
  lacksValue(error: unknown): boolean;
  existing(session: Session): Promise<Map<string, ExistingTable>>;
  /** The missing foreign keys of a table. They are added after all tables exist, because two tables may refer to each other. */
  addReferences(table: Table, existing: ExistingTable | undefined): References;
  /** Creates a table and its indexes, except the search index. */
  create(table: Table): RawBuilder<unknown>[];
  /** Drops columns that belong to no field, with their indexes, unless the table is rebuilt without them. */
  dropColumns(table: Table, columns: ReadonlySet<string>, existing: ExistingTable): RawBuilder<unknown>[];
  /** Creates the triggers that write an index of elements. */
  createElementTriggers(index: ElementIndex): RawBuilder<unknown>[];
  dropElementTriggers(table: string, index: string): RawBuilder<unknown>[];
  /** Creates the triggers that keep a count. @param isComplete whether all rows are counted already */
  createCounter(counter: Counter, isComplete: boolean): RawBuilder<unknown>[];
  completeCounter(counter: Counter): RawBuilder<unknown>[];
  dropCounter(name: string): RawBuilder<unknown>[];
  dropTables(
    tables: readonly { readonly name: string; readonly existing: ExistingTable }[],
  ): RawBuilder<unknown>[];
  addColumns(table: Table, columns: readonly Column[]): RawBuilder<unknown>[];
  /**
   * Recreates a table with its indexes, except the search index; undefined if columns can be added to it and dropped from
   * it instead.
   * @param existing with the columns that are to be dropped
   */
  rebuild(
    table: Table,
    columns: readonly Column[],
    existing: ExistingTable,
    dropped: ReadonlySet<string>,
  ): RawBuilder<unknown>[] | undefined;
  /** Requires values in a column of which no row lacks one. A locking statement is brief. */
  requireColumn(
    table: string,
    column: string,
  ): readonly { readonly query: RawBuilder<unknown>; readonly isLocking: boolean }[];
  /** Whether indexes are created and dropped, and rows updated, outside the transaction, without blocking requests. */
  readonly isConcurrent: boolean;
  /** Adds an index to a table that is in use. */
  addIndex(table: Table, index: Index): RawBuilder<unknown>;
  dropIndex(name: string): RawBuilder<unknown>;
  /** The sizes of indexes in bytes. */
  indexSizes(session: Session, names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Creates the search index from the search words in the table. */
  createSearch(table: Table): RawBuilder<unknown>[];
  /**
   * Creates the search index of a table that is in use: what the transaction of the migration creates, and what is created
   * after all rows have their search words. Whichever search index exists serves on.
   */
  addSearch(
    table: Table,
    existing: ExistingTable,
  ): { readonly first: readonly RawBuilder<unknown>[]; readonly last: readonly RawBuilder<unknown>[] };
  /** Drops search indexes that the table should not have, with the name of each index that has one. */
  unneededSearch(
    table: Table,
    existing: ExistingTable,
  ): readonly { readonly query: RawBuilder<unknown>; readonly index: string | undefined }[];
  /**
   * Records in which order the rows of a searched table are created (`search/creation-order.ts`), unless that is recorded
   * already. `createSearch` includes it.
   */
  recordOrder(table: Table, existing: ExistingTable): RawBuilder<unknown>[];
  /** Drops the search index, before the table is rebuilt. */
  dropSearch(table: Table, existing: ExistingTable): RawBuilder<unknown>[];
  /** Follows a nullable column in an index, in ascending order. */
  readonly nullsFirst: RawBuilder<unknown>;
  /** Follows a nullable column in an index, in descending order. */
  readonly nullsLast: RawBuilder<unknown>;
}
