// How tables are looked at, made and altered; one implementation for each database.

import type { RawBuilder } from "kysely";
import type { Maintenance, Session } from "../database.ts";
import type { Column, ColumnType, Index, Table } from "./ddl.ts";

export interface ExistingTable {
  /** The type is the text of the database where it is none that Portico makes. */
  readonly columns: ReadonlyMap<
    string,
    { readonly type: ColumnType | (string & {}); readonly isNullable: boolean; readonly hasDefault: boolean }
  >;
  readonly indexes: ReadonlySet<string>;
  /** Indexes whose making was broken off; they are of no use. */
  readonly brokenIndexes: ReadonlySet<string>;
  /** Column -> the table that it refers to. */
  readonly references: ReadonlyMap<string, string>;
  /** Search indexes, under whatever names the database keeps them. */
  readonly searches: ReadonlySet<string>;
}

/** An existing table while its catalogue is being read. */
export class TableDescription implements ExistingTable {
  readonly columns = new Map<string, { type: string; isNullable: boolean; hasDefault: boolean }>();
  readonly indexes = new Set<string>();
  readonly brokenIndexes = new Set<string>();
  readonly references = new Map<string, string>();
  readonly searches = new Set<string>();
}

/** What is to be added in the transaction, and what is checked of it outside. */
export interface References {
  readonly added: readonly RawBuilder<unknown>[];
  readonly checked: readonly RawBuilder<unknown>[];
}

export interface TableDialect {
  /** Run outside the transaction of a migration, before and after it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Keeps other processes from migrating until the maintenance ends. */
  lock(session: Maintenance): Promise<void>;
  /** At the beginning of the transaction: waits for no lock so long that requests queue behind it. */
  limitLockWait(session: Session): Promise<void>;
  /** Whether a transaction failed only because others use the tables. */
  isBlocked(error: unknown): boolean;
  existing(session: Session): Promise<Map<string, ExistingTable>>;
  /** References that a table lacks; made when all tables are there, because two may refer to each other. */
  addReferences(table: Table, existing: ExistingTable | undefined): References;
  /** A table with its indexes, but for that of its search. */
  create(table: Table): RawBuilder<unknown>[];
  addColumns(table: Table, columns: readonly Column[]): RawBuilder<unknown>[];
  /** The table made anew, with its indexes but for that of its search, where the columns cannot be added to it as it stands. */
  rebuild(table: Table, columns: readonly Column[]): RawBuilder<unknown>[] | undefined;
  /** Whether indexes are made and dropped, and rows changed, outside the transaction, so that nobody waits for them. */
  readonly isConcurrent: boolean;
  /** An index on a table that is in use. */
  addIndex(table: Table, index: Index): RawBuilder<unknown>;
  dropIndex(name: string): RawBuilder<unknown>;
  /** The search index, from the words that stand in the table. */
  createSearch(table: Table): RawBuilder<unknown>[];
  /** Removes what is left of search indexes that the table should not have. */
  dropSearch(table: Table, existing: ExistingTable): RawBuilder<unknown>[];
  /** Written behind a column of an index that may hold null. */
  readonly nullsFirst: RawBuilder<unknown>;
}
