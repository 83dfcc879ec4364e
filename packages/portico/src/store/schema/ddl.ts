// The tables of a model.

import { isJson } from "../../declare/field.ts";
import { OperatorError } from "../../errors.ts";
import type { Attribute, IndexModel, Model, ResourceModel } from "../../model/model.ts";
import { namedIndexes, searchIndexName } from "./index-names.ts";

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
  /** The declaration of the column, for messages. */
  readonly from: string;
}

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

/** All tables: those of the model, and the server's own. A referenced table comes before those that refer to it. */
export function tablesOf(
  model: Model,
  ownTables: readonly Table[],
  ownIndexes: readonly OwnIndex[] = [],
): Table[] {
  const [referencing, plain] = [true, false].map((hasForeignKey) =>
    ownTables.filter((table) => table.foreignKeys.length > 0 === hasForeignKey),
  );
  const resources = parentsFirst(model.resources);
  const withoutIndexes = resources.map(resourceTable);
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
    for (const each of search.length > 0 ? [table, searchTable(table)] : [table]) {
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
export function columnsOf(resource: ResourceModel): Column[] {
  const column = (name: string, type: ColumnType): Column => ({
    name,
    type,
    isNullable: false,
    defaultValue: undefined,
    from: `resource ${resource.name}`,
  });
  return [
    column("tenant_no", "tenant"),
    ...storedAttributes(resource).map((attribute) => attributeColumn(resource, attribute)),
    ...(resource.search.length > 0 ? [{ ...column(searchColumn, "text"), defaultValue: "" }] : []),
  ];
}

/** The table of a resource, without indexes: their names depend on all tables. */
function resourceTable(resource: ResourceModel): Table {
  return {
    name: resource.table,
    columns: columnsOf(resource),
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

function attributeColumn(resource: ResourceModel, { name, column, field, isNullable }: Attribute): Column {
  const value = "default" in field.options ? field.options.default : undefined;
  return {
    name: column,
    type: columnTypes[field.kind],
    isNullable,
    defaultValue: defaultValueOf(field.kind, value),
    from: `resource ${resource.name}, field ${name}`,
  };
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
