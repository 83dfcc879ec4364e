// The differences between the SQL of SQLite and of PostgreSQL. The rest of a statement is the same for both.

import type { Kysely, RawBuilder } from "kysely";
import { maxPrecision, type Scale } from "../lib/decimal.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import type { ColumnType } from "./schema/table.ts";
import type { Tables } from "./statement.ts";

/** A member of a row's JSON. A name that is too long for a column name is a bound value. */
export type JsonMember = readonly [name: string | RawBuilder<unknown>, expression: RawBuilder<unknown>];

/** The write that a row is locked for. */
export type Lock = "update" | "delete";

export interface Dialect {
  readonly name: "sqlite" | "postgres";
  readonly builder: Kysely<Tables>;
  /** How a column type is written in `create table`. */
  readonly columnType: Readonly<Record<ColumnType, string>>;
  /** The JSON text of a row from its members, whose expressions are ready for JSON (`memberJson`). */
  rowJson(members: readonly JsonMember[]): RawBuilder<string>;
  /** The same as a JSON value, to be nested in the JSON of another row. */
  rowValue(members: readonly JsonMember[]): RawBuilder<unknown>;
  /**
   * A referenced row as a member of the JSON of the row that refers to it: the expression, and the join that it needs,
   * under the name `name`.
   */
  joinReferenced(
    row: RawBuilder<unknown>,
    from: RawBuilder<unknown>,
    name: string,
  ): { readonly value: RawBuilder<unknown>; readonly join: RawBuilder<unknown> | undefined };
  /** The JSON array of all rows of a query, from the JSON value of each row. */
  rowsJson(row: RawBuilder<unknown>): RawBuilder<unknown>;
  /** A constant text as a member of JSON. */
  constantJson(text: string): RawBuilder<unknown>;
  /** A column as a member of a row's JSON. */
  memberJson(attribute: Attribute, column: RawBuilder<unknown>): RawBuilder<unknown>;
  /** The JSON text of an array of values. */
  listJson(values: readonly RawBuilder<unknown>[]): RawBuilder<string>;
  /** A subquery that returns the texts of a JSON array. */
  textsOf(list: RawBuilder<unknown>): RawBuilder<unknown>;
  /**
   * Whether the value of an attribute is in a JSON array. It is evaluated on each row, and no join that could change how
   * rows are found.
   */
  isOneOfList(
    attribute: Attribute,
    value: RawBuilder<unknown>,
    list: RawBuilder<unknown>,
  ): RawBuilder<unknown>;
  /** A `from` item with the elements of a list, which are of some kind, in the column `value`. A list without a value has none. */
  elementsOf(kind: Attribute["field"]["kind"], list: RawBuilder<unknown>): RawBuilder<unknown>;
  /**
   * Joins rows of a table to the item before it in `from`, whose rows are read first, in their order, so that each row of
   * the table is looked up.
   */
  joinLookedUp(table: string, alias: string, condition: RawBuilder<unknown>): RawBuilder<unknown>;
  /** Aggregates the texts of all rows into one. `order` is needed unless the rows are in order already. */
  concatenated(
    text: RawBuilder<string>,
    separator: string,
    order: RawBuilder<unknown> | undefined,
  ): RawBuilder<string>;
  /** Whether `concatenated` takes rows in the order of the subquery that they come from, also if others are joined to them. */
  readonly aggregatesInOrder: boolean;
  /** A term of `order by` in which nulls count as smallest. */
  order(column: RawBuilder<unknown>, isDescending: boolean, isNullable: boolean): RawBuilder<unknown>;
  /** Whether a value is one of those that a query returns, which is run once and finds few. */
  isOneOfRows(value: RawBuilder<unknown>, query: RawBuilder<unknown>): RawBuilder<unknown>;
  /** The end of a subquery of `exists` that is run for each row of the outer query, in place of a join. */
  readonly forEachRow: RawBuilder<unknown>;
  /** A column as an expression that no index serves, where the planner would otherwise walk the index of a sort. */
  withoutIndex(column: RawBuilder<unknown>): RawBuilder<unknown>;
  /** The `from` item of all rows, of any tenant, that match a search text; they are `r`. */
  searched(resource: ResourceModel, searchText: RawBuilder<unknown>): RawBuilder<unknown>;
  /** The search text that matches the rows of a tenant that contain all words. */
  searchText(tenantNo: number | null, words: readonly string[]): string;
  /** The position of a text in another, from 1; 0 where the other does not contain it. Case matters. */
  positionIn(text: RawBuilder<unknown>, part: RawBuilder<unknown>): RawBuilder<number>;
  /** A row limit: a parameter, or a literal for a planner that must know it. */
  limit(count: number, parameter: RawBuilder<unknown>): RawBuilder<unknown>;
  /** Converts a value into the form that the driver binds. */
  encode(attribute: Attribute, value: unknown): unknown;
  /** The physical row id: the cheapest way to identify a row within one statement. */
  readonly rowIdColumn: RawBuilder<unknown>;
  /** Appended to a query for a row that the transaction will write: locks the row until the transaction ends. */
  readonly locks: Readonly<Record<Lock, RawBuilder<unknown>>>;
  /** Locks rows that several processes compete for, and skips rows that another transaction has locked. */
  readonly skipLocked: RawBuilder<unknown>;
  /** Locks a table against other writers until the transaction ends; undefined on SQLite, which has one writer. */
  lockTable(table: string): RawBuilder<unknown> | undefined;
}

/** The types of columns with decimals, by the digits after the point. @param nameOf how `create table` writes one */
export function decimalTypes(
  nameOf: (scale: number) => string,
): Readonly<Record<`decimal_${Scale}`, string>> {
  const scales = Array.from({ length: maxPrecision + 1 }, (_, scale) => scale);
  // The scales are all that the type has.
  return Object.fromEntries(scales.map((scale) => [`decimal_${scale}`, nameOf(scale)])) as Readonly<
    Record<`decimal_${Scale}`, string>
  >;
}
