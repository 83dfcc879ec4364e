// The server's own tables: how they are declared, and the types of their rows. Tables of the server's own resources have
// row types that follow from the resource's fields.

import type { Generated } from "kysely";
import type { FieldShape } from "../../declare/field.ts";
import type { Fields, RowKey, ValueIn } from "../../declare/record.ts";
import { plural, snakeCase } from "../../lib/case.ts";
import type { Column, ColumnType, ForeignKey, Index, Table } from "../schema/table.ts";

/** The type of a column; with a question mark it is nullable. */
type OwnColumnType = ColumnType | `${ColumnType}?`;
type OwnColumns = Readonly<Record<string, OwnColumnType>>;

/** A table of the server, with the types of its columns by name. */
export interface OwnTable<Name extends string = string, Columns extends OwnColumns = OwnColumns>
  extends Table {
  readonly name: Name;
  readonly columnTypes: Columns;
}

interface OwnTableOptions<ColumnName> {
  readonly primaryKey: readonly ColumnName[];
  /** Each is named after its columns unless it has a name. */
  readonly indexes?: readonly {
    readonly name?: string;
    readonly columns: readonly ColumnName[];
    readonly isUnique?: boolean;
    readonly database?: Index["database"];
    readonly where?: string;
  }[];
  readonly foreignKeys?: readonly (ForeignKey & { readonly column: ColumnName })[];
}

/**
 * Declares a table of the server.
 *
 * @example
 * const tenantsTable = ownTable("tenants", { id: "text", name: "text", created_at: "timestamp" }, { primaryKey: ["id"] });
 */
export function ownTable<const Name extends string, const Columns extends OwnColumns>(
  name: Name,
  columnTypes: Columns,
  { primaryKey, indexes = [], foreignKeys = [] }: OwnTableOptions<keyof Columns & string>,
): OwnTable<Name, Columns> {
  const isNullable = (column: string): boolean => columnTypes[column]!.endsWith("?");
  return Object.freeze({
    name,
    columnTypes,
    columns: Object.entries(columnTypes).map(
      ([column, type]): Column => ({
        name: column,
        // What is left without the question mark is a column type.
        type: type.replace("?", "") as ColumnType,
        isNullable: isNullable(column),
        // Rows that exist when the column is added.
        defaultValue: type === "transaction" ? 0 : undefined,
        from: name,
      }),
    ),
    primaryKey,
    indexes: indexes.map(({ name: indexName, columns, isUnique = false, ...options }) => ({
      name: indexName ?? `portico_${name}_${columns.join("_")}`,
      columns: columns.map((column) => ({ name: column, isNullable: isNullable(column) })),
      isUnique,
      ...options,
    })),
    foreignKeys,
    search: undefined,
  });
}

/** A resource of the server, or its name and fields. */
export interface OwnResource<Name extends string = string, F extends Fields = Fields> {
  readonly name: Name;
  readonly fields: F;
}

/** A table that a query can use. */
export type QueryTable = OwnTable | OwnResource;

/** The row types of tables by table name: the `Database` type of Kysely. */
export type DatabaseOf<Tables extends readonly QueryTable[]> = {
  [Each in Tables[number] as TableName<Each>]: RowOf<Each>;
};

type TableName<T> =
  T extends OwnTable<infer Name> ? Name : T extends OwnResource<infer Name> ? SnakeCase<Plural<Name>> : never;

/** As `plural` does, for the names that the server's own resources have. */
type Plural<Name extends string> = Name extends `${string}${"a" | "e" | "i" | "o" | "u"}y`
  ? `${Name}s`
  : Name extends `${infer Stem}y`
    ? `${Stem}ies`
    : `${Name}s`;

type RowOf<T> = T extends { readonly columnTypes: infer Columns extends OwnColumns }
  ? { [Name in keyof Columns]: ColumnValue<Columns[Name]> }
  : T extends { readonly fields: infer F extends Fields }
    ? ResourceRow<F>
    : never;

declare const isTenantId: unique symbol;

/**
 * The id of a tenant in the row of a query. A column of this type takes a parameter that is named `tenantId` or
 * `tenant_id`, which is bound to the number of the tenant; the compiler refuses any other.
 */
export type TenantId = string & { readonly [isTenantId]: true };

/** Timestamps are ISO 8601 in UTC with milliseconds, and JSON is text, on both databases. */
interface ColumnValues {
  /** The id of the tenant whose number the column holds. */
  readonly tenant: TenantId;
  readonly text: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly timestamp: string;
  readonly json: string;
  readonly sequence: Generated<number>;
  readonly transaction: Generated<number>;
}

type ColumnValue<Type> = Type extends keyof ColumnValues
  ? ColumnValues[Type]
  : Type extends `${infer Base extends keyof ColumnValues}?`
    ? ColumnValues[Base] | null
    : never;

type ResourceRow<F extends Fields> = {
  tenant_no: TenantId;
  id: string;
  created_at: string;
  updated_at: string;
} & {
  [Name in keyof F as F[Name] extends { kind: "computedStatus" }
    ? never
    : SnakeCase<RowKey<Name, F[Name]>>]: StoredValue<F[Name]>;
};

type StoredValue<F> = F extends { kind: "json" | "list" }
  ? string | (null extends ValueIn<F> ? null : never)
  : ValueIn<F>;

/** `apiKey` -> `api_key`, as `snakeCase` does */
type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : Name;

/** Whether a column of any table holds the number of a tenant. */
export function isTenantColumn(name: string | undefined): boolean {
  return name === "tenant_no";
}

/** The names of the boolean columns of a table: SQLite stores 0 and 1 in them. */
export function booleanColumns(table: QueryTable): string[] {
  if ("columnTypes" in table)
    return table.columns.filter(({ type }) => type === "boolean").map(({ name }) => name);
  const { name, fields } = table;
  const expected = /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
  if (plural(name) !== expected) throw new Error(`the type of the table of ${name} expects another plural`);
  const isBoolean = ([, { kind }]: readonly [string, FieldShape]): boolean => kind === "boolean";
  return Object.entries(fields)
    .filter(isBoolean)
    .map(([field]) => snakeCase(field));
}
