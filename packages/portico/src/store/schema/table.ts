// Tables, as the declarations describe them.

import type { Scale } from "../../lib/decimal.ts";
import type { Attribute, ResourceModel } from "../../model/model.ts";
import type { RowValues } from "../../query/write.ts";
import type { Counter } from "./counter.ts";
import { identifier } from "./index-names.ts";

/**
 * `sequence` is a number that the database assigns to each row. `transaction` is the number of the transaction that
 * inserted the row; such a column exists only on PostgreSQL.
 * `decimal_2` is a decimal with two digits after the point.
 * `tenant` is the number of a tenant (`store/tenants.ts`).
 */
export type ColumnType =
  | "text"
  | "integer"
  | "number"
  | `decimal_${Scale}`
  | "boolean"
  | "timestamp"
  | "json"
  | "sequence"
  | "tenant"
  | "transaction";

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly isNullable: boolean;
  /** The constant that existing rows get when the column is added. */
  readonly defaultValue: string | number | boolean | undefined;
  /** Whether `defaultValue` is the present time. */
  readonly defaultsToNow?: boolean;
  /** Whether a new table has `defaultValue` too: a version without the field inserts rows for an earlier one. */
  readonly hasDefault?: boolean;
  /** Gives a value to rows that have none, so that the column can become required. */
  readonly fill?: ColumnFill | undefined;
  /** The declaration of the column, for messages. */
  readonly from: string;
}

export interface ColumnFill {
  readonly attribute: Attribute;
  /** The value for a row. @throws OperatorError for a value that the field does not allow */
  valueFor(row: RowValues): unknown;
}

/**
 * Checks a value of `fill` against the field.
 * @returns the value as rows store it
 * @throws Error that says what is wrong
 */
export type CheckFill = (resource: ResourceModel, attribute: Attribute, value: unknown) => unknown;

export interface Index {
  readonly name: string;
  readonly columns: readonly IndexColumn[];
  readonly isUnique: boolean;
  /** The rows that it has, as SQL, if not all: `status = 'pending'`. Statements that use it have the same condition. */
  readonly where?: string;
  /** The database that needs it, if the other does not. */
  readonly database?: DatabaseName;
}

export type DatabaseName = "sqlite" | "postgres";

interface IndexColumn {
  readonly name: string;
  /** The choices of which it holds the rank (`choice-rank.ts`) instead of the word. */
  readonly ranked?: readonly string[];
  readonly isNullable: boolean;
  readonly isDescending?: boolean;
}

/** An index on the table of a resource that the server itself needs, to find rows across all tenants. */
export interface OwnIndex extends Index {
  readonly table: string;
}

export interface ForeignKey {
  readonly column: string;
  readonly table: string;
  readonly onDelete: "cascade" | "restrict";
}

export interface Table {
  readonly name: string;
  /** The resource whose rows it holds; undefined for the server's own tables. */
  readonly resource?: ResourceModel;
  readonly columns: readonly Column[];
  readonly primaryKey: readonly string[];
  /** Whether SQLite stores the rows in the order of the primary key, without numbers of their own. */
  readonly isOrderedByKey?: boolean;
  readonly indexes: readonly Index[];
  readonly foreignKeys: readonly ForeignKey[];
  /** The search index over the words of these columns; undefined if no field is searched. */
  readonly search: { readonly index: string; readonly columns: readonly string[] } | undefined;
  /** The indexes of the elements of its lists. */
  readonly elementIndexes?: readonly ElementIndex[];
  /** The counters that its rows have. */
  readonly counters?: readonly Counter[];
}

/** A table that indexes the elements of a list (`element-table.ts`). */
export interface ElementIndex {
  readonly name: string;
  /** The table that has the list, and the column of the list. */
  readonly table: string;
  readonly list: string;
  readonly elementKind: Attribute["field"]["kind"];
  /** The columns of the row that it has besides the tenant: the parent, and those of the order. */
  readonly columns: readonly string[];
}

/** The column that holds the search words of a row. */
export const searchColumn = "search_words";

/** The table of a search index in SQLite. */
export function searchTable(table: string): string {
  return `${table}_search`;
}

/** That table, and those in which SQLite stores it. */
export function searchTables(table: string): string[] {
  return ["", "_config", "_content", "_data", "_docsize", "_idx"].map((part) => searchTable(table) + part);
}

/** The table, on SQLite, that records in which order searched tables have their rows (`search/creation-order.ts`). */
export const searchOrderTable = "portico_search_order";

/** The table, on SQLite, that has a row while a transaction indexes its rows itself (`search/deferral.ts`). */
export const deferralTable = "portico_search_deferral";

/** The table that records a migration until it ends (`schema/migration-record.ts`). */
export const migrationTable = "portico_migration";

/** The table that records what the search words of a table were computed for. It exists until the contraction. */
export function searchStateTable(table: string): string {
  return identifier(`${table}_search_state`);
}
