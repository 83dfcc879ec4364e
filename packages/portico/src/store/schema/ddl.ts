// The tables of a model.

import { isJson } from "../../declare/field.ts";
import { OperatorError } from "../../errors.ts";
import type { Attribute, IndexModel, Model, ResourceModel } from "../../model/model.ts";
import type { RowValues } from "../../query/write.ts";
import { identifier, namedIndexes, searchIndexName } from "./index-names.ts";

/**
 * `sequence` is a number that the database assigns to each row. `transaction` is the number of the transaction that
 * inserted the row; such a column exists only on PostgreSQL.
 * `tenant` is the number of a tenant (`store/tenants.ts`).
 */
export type ColumnType =
  | "text"
  | "integer"
  | "number"
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
  /** The database that needs it, if the other does not. */
  readonly database?: DatabaseName;
}

type DatabaseName = "sqlite" | "postgres";

interface IndexColumn {
  readonly name: string;
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
  readonly indexes: readonly Index[];
  readonly foreignKeys: readonly ForeignKey[];
  /** The search index over the words of these columns; undefined if no field is searched. */
  readonly search: { readonly index: string; readonly columns: readonly string[] } | undefined;
}

/** The column that holds the search words of a row. */
export const searchColumn = "search_words";

/** The table of a search index in SQLite. */
export function searchTable(table: string): string {
  return `${table}_search`;
}

/** That table, and those in which SQLite stores it. */
function searchTables(table: string): string[] {
  return ["", "_config", "_content", "_data", "_docsize", "_idx"].map((part) => searchTable(table) + part);
}

/** The table that records what the search words of a table were computed for. It exists until the contraction. */
export function searchStateTable(table: string): string {
  return identifier(`${table}_search_state`);
}

/** All tables: those of the model, and the server's own. A referenced table comes before those that refer to it. */
export function tablesOf(
  model: Model,
  ownTables: readonly Table[],
  ownIndexes: readonly OwnIndex[] = [],
  checkFill: CheckFill = (_resource, _attribute, value) => value,
): Table[] {
  const [referencing, plain] = [true, false].map((hasForeignKey) =>
    ownTables.filter((table) => table.foreignKeys.length > 0 === hasForeignKey),
  );
  const resources = parentsFirst(model.resources);
  const withoutIndexes = resources.map((resource) => resourceTable(resource, checkFill));
  const named = [...withoutIndexes, ...ownTables];
  const ofResources = withoutIndexes.map((table, position) => ({
    ...table,
    indexes: [
      ...namedIndexes(table, resources[position]!.indexes.map(tableIndex), named),
      ...ownIndexes.filter((each) => each.table === table.name),
    ],
  }));
  requireUniqueNames(model, ownTables);
  return [...plain!, ...ofResources, ...referencing!];
}

/** A table as one of the databases has it. */
export function tableOn(database: DatabaseName, table: Table): Table {
  return {
    ...table,
    columns: table.columns.filter(({ type }) => database === "postgres" || type !== "transaction"),
    indexes: table.indexes.filter((index) => !index.database || index.database === database),
  };
}

/** @throws OperatorError for a resource whose table name is taken by another resource or by the server itself */
function requireUniqueNames({ resources }: Model, ownTables: readonly Table[]): void {
  const owners = new Map(ownTables.map(({ name }) => [name, "the server itself"]));
  for (const { name, table, search } of resources) {
    if (/^(sqlite|pg)_/.test(table))
      throw new OperatorError(
        `resource ${name}: names of tables that begin with ${table.split("_")[0]}_ are reserved for the database; set plural, or rename it`,
      );
    for (const each of search.length > 0
      ? [table, ...searchTables(table), searchStateTable(table)]
      : [table]) {
      const owner = owners.get(each);
      if (owner)
        throw new OperatorError(
          `resource ${name}: the table ${each} belongs to ${owner}; set plural, or rename it`,
        );
      owners.set(each, `the resource ${name}`);
    }
  }
}

function parentsFirst(resources: readonly ResourceModel[]): ResourceModel[] {
  const ordered = new Set<ResourceModel>();
  const visit = (resource: ResourceModel, path: ReadonlySet<ResourceModel>): void => {
    if (path.has(resource)) return;
    for (const { reference } of resource.references) visit(reference!.target, new Set([...path, resource]));
    ordered.add(resource);
  };
  for (const resource of resources) visit(resource, new Set());
  return [...ordered];
}

/** The columns of a resource's table. */
export function columnsOf(resource: ResourceModel, checkFill?: CheckFill): Column[] {
  const column = (name: string, type: ColumnType): Column => ({
    name,
    type,
    isNullable: false,
    defaultValue: undefined,
    from: `resource ${resource.name}`,
  });
  return [
    column("tenant_no", "tenant"),
    ...storedAttributes(resource).map((attribute) => attributeColumn(resource, attribute, checkFill)),
    ...(resource.search.length > 0 ? [{ ...column(searchColumn, "text"), defaultValue: "" }] : []),
  ];
}

/** The table of a resource, without indexes: their names depend on all tables. */
function resourceTable(resource: ResourceModel, checkFill: CheckFill): Table {
  return {
    name: resource.table,
    resource,
    columns: columnsOf(resource, checkFill),
    primaryKey: ["tenant_no", "id"],
    indexes: [],
    foreignKeys: resource.references.map((attribute) => ({
      column: attribute.column,
      table: attribute.reference!.target.table,
      onDelete: attribute === resource.parent ? "cascade" : "restrict",
    })),
    search: searchOf(resource),
  };
}

function searchOf({ table, search }: ResourceModel): Table["search"] {
  if (search.length === 0) return undefined;
  const columns = search.map(({ column }) => column);
  return { index: searchIndexName(table, columns), columns };
}

function attributeColumn(resource: ResourceModel, attribute: Attribute, checkFill?: CheckFill): Column {
  const { name, column, field, isOptional, fill } = attribute;
  const from = `resource ${resource.name}, field ${name}`;
  const checked = (value: () => unknown): unknown =>
    checkedFill(from, () => {
      const computed = value();
      return checkFill ? checkFill(resource, attribute, computed) : computed;
    });
  const standard = "default" in field.options ? field.options.default : undefined;
  const isComputed = typeof fill === "function";
  const constant = isComputed || fill === undefined ? standard : checked(() => fill);
  return {
    name: column,
    type: columnTypes[field.kind],
    isNullable: isOptional,
    // Rows that a process of an earlier version inserts have to be filled too.
    defaultValue: isComputed ? undefined : defaultValueOf(field.kind, constant),
    defaultsToNow: field.kind === "timestamp" && constant === "now",
    fill:
      fill === undefined
        ? undefined
        : { attribute, valueFor: (row) => (isComputed ? checked(() => fill(row)) : constant) },
    from,
  };
}

function checkedFill(from: string, check: () => unknown): unknown {
  try {
    const value = check();
    if (value === undefined || value === null) throw new Error("it has no value for a row");
    return value;
  } catch (error) {
    throw new OperatorError(`${from}: fill is not valid: ${(error as Error).message}`);
  }
}

/** A computed status has no column. */
export function storedAttributes({ attributes }: ResourceModel): readonly Attribute[] {
  return attributes.filter(({ statusRules }) => !statusRules);
}

const columnTypes = {
  id: "text",
  text: "text",
  choice: "text",
  belongsTo: "text",
  computedStatus: "text",
  integer: "integer",
  number: "number",
  boolean: "boolean",
  timestamp: "timestamp",
  json: "json",
  list: "json",
} as const;

function defaultValueOf(kind: Attribute["field"]["kind"], value: unknown): Column["defaultValue"] {
  if (kind === "belongsTo" || typeof value === "function" || value === undefined) return undefined;
  if (isJson({ kind })) return JSON.stringify(value);
  if (kind === "timestamp") return (value === "now" ? new Date() : new Date(String(value))).toISOString();
  // The constant default of any other kind is a string, a number or a boolean.
  return value as string | number | boolean;
}

/** Every index begins with the tenant, unless its values are unique across tenants. */
function tableIndex({ columns, unique }: IndexModel): Omit<Index, "name"> {
  const own = columns.map(({ attribute: { column, isNullable }, isDescending }) => ({
    name: column,
    isNullable,
    isDescending,
  }));
  const tenant = unique === "all tenants" ? [] : [{ name: "tenant_no", isNullable: false }];
  return { columns: [...tenant, ...own], isUnique: unique !== undefined };
}
