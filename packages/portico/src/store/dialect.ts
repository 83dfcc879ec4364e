// Where SQLite and PostgreSQL differ. Everything else of a statement is the same for both.

import type { Kysely, RawBuilder } from "kysely";
import type { Attribute, ResourceModel } from "../model/model.ts";
import type { ColumnType } from "./schema/ddl.ts";
import type { Tables } from "./statement.ts";

/** A member of a row's JSON. A name that cannot be a column's is a value that is bound to the statement. */
export type JsonMember = readonly [name: string | RawBuilder<unknown>, expression: RawBuilder<unknown>];

/** What a row is kept from others for. */
export type Lock = "update" | "delete";

export interface Dialect {
  readonly name: "sqlite" | "postgres";
  readonly builder: Kysely<Tables>;
  /** How a column type is written in `create table`. */
  readonly columnType: Readonly<Record<ColumnType, string>>;
  /** JSON of one row from the names and JSON-ready expressions of its members. */
  rowJson(members: readonly JsonMember[]): RawBuilder<string>;
  /** The same as a JSON value, which can be a member of another row. */
  rowValue(members: readonly JsonMember[]): RawBuilder<unknown>;
  /**
   * The row that another refers to, as a member of that one's JSON: what stands for it there, and what must be joined
   * for it under a name.
   */
  joinReferenced(
    row: RawBuilder<unknown>,
    from: RawBuilder<unknown>,
    name: string,
  ): { readonly value: RawBuilder<unknown>; readonly join: RawBuilder<unknown> | undefined };
  /** The JSON list of all rows of a query, from the JSON value of each. */
  rowsJson(row: RawBuilder<unknown>): RawBuilder<unknown>;
  /** A text that is the same in every row. */
  constantJson(text: string): RawBuilder<unknown>;
  /** A column as a member of a row's JSON. */
  memberJson(attribute: Attribute, column: RawBuilder<unknown>): RawBuilder<unknown>;
  /** JSON of a list of values, as text. */
  listJson(values: readonly RawBuilder<unknown>[]): RawBuilder<string>;
  /** A query for the texts of a JSON list. */
  textsOf(list: RawBuilder<unknown>): RawBuilder<unknown>;
  /** The texts of many rows as one, in the given order where the rows do not come in order. */
  concatenated(
    text: RawBuilder<string>,
    separator: string,
    order: RawBuilder<unknown> | undefined,
  ): RawBuilder<string>;
  /** `asc` or `desc` with nulls counted as smallest. */
  order(column: RawBuilder<unknown>, isDescending: boolean, isNullable: boolean): RawBuilder<unknown>;
  /** Where the rows `r` of a search come from. */
  searched(resource: ResourceModel): RawBuilder<unknown>;
  /** Whether a row of `r` has all the words of a search text. */
  matches(resource: ResourceModel, searchText: RawBuilder<unknown>): RawBuilder<boolean>;
  /** The search text for rows of a tenant with all of these words. */
  searchText(tenantId: string, words: readonly string[]): string;
  /** The row limit: a parameter, or a part of the text where the planner must know it. */
  limit(count: number, parameter: RawBuilder<unknown>): RawBuilder<unknown>;
  /** A value as the driver takes it. */
  encode(attribute: Attribute, value: unknown): unknown;
  /** Where a row lies: the shortest way to it inside one statement. */
  readonly rowIdColumn: RawBuilder<unknown>;
  /** Written behind a query for a row that the transaction goes on to write: nobody else writes it until then. */
  readonly locks: Readonly<Record<Lock, RawBuilder<unknown>>>;
  /** The same for rows that several processes share out: those that another one holds are left to it. */
  readonly skipLocked: RawBuilder<unknown>;
  /** Keeps all others from writing to a table until the transaction ends; undefined where there is one writer anyway. */
  lockTable(table: string): RawBuilder<unknown> | undefined;
}
