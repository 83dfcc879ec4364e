// How tables are looked at, made and altered; one implementation for each database.

import type { RawBuilder } from "kysely";
import type { Session } from "./database.ts";
import type { Column, ColumnType, Table } from "./schema.ts";

export interface ExistingTable {
  /** The type is the text of the database where it is none that Portico makes. */
  readonly columns: ReadonlyMap<
    string,
    { readonly type: ColumnType | (string & {}); readonly isNullable: boolean }
  >;
  readonly indexes: ReadonlySet<string>;
}

export interface TableDialect {
  /** Run outside the transaction of a migration, before and after it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Keeps other processes from migrating at the same time. */
  lock(session: Session): Promise<void>;
  existing(session: Session): Promise<Map<string, ExistingTable>>;
  /** A table with its indexes. */
  create(table: Table): RawBuilder<unknown>[];
  addColumns(table: Table, columns: readonly Column[]): RawBuilder<unknown>[];
  /** The table made anew, with its indexes, where the columns cannot be added to it as it stands. */
  rebuild(table: Table, columns: readonly Column[]): RawBuilder<unknown>[] | undefined;
  /** The search index of a table that is there, if it lacks it or should not have it. */
  search(table: Table, existing: ExistingTable): RawBuilder<unknown>[];
  /** Written behind a column of an index that may hold null. */
  readonly nullsFirst: RawBuilder<unknown>;
}
