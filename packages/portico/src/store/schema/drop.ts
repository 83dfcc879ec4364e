// What `--drop` deletes: columns that no field declares, and tables that no resource declares.

import { OperatorError } from "../../errors.ts";
import { camelCase } from "../../lib/case.ts";
import { isOfResource, isServerColumn } from "./resource-tables.ts";
import type { Table } from "./table.ts";
import type { ExistingTable, TableDescription } from "./tables.ts";

/** A field of a table, or a whole table, by the names of the database. A reference may lack its suffix `_id`. */
export interface DropRequest {
  /** As the operator wrote it: `posts.slug`. */
  readonly name: string;
  readonly table: string;
  readonly column?: string;
}

/** What is deleted. */
export interface Drops {
  /** By table. */
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>;
  readonly tables: readonly string[];
}

type ExistingTables = ReadonlyMap<string, ExistingTable>;

/** @throws OperatorError for what does not exist, is declared, is the server's own, or is referred to */
export function dropsOf(
  existing: ExistingTables,
  declared: readonly Table[],
  requests: readonly DropRequest[],
): Drops {
  const columns = new Map<string, Set<string>>();
  const tables = new Set<string>();
  for (const request of requests) {
    if (request.column === undefined) tables.add(droppedTable(existing, declared, request));
    else {
      const column = droppedColumn(existing, declared, request, request.column);
      for (const table of withDeletedRows(declared, request.table))
        if (existing.get(table)?.columns.has(column))
          columns.set(table, (columns.get(table) ?? new Set()).add(column));
    }
  }
  for (const [table, { references }] of existing) {
    if (tables.has(table)) continue;
    for (const [column, target] of references) {
      if (!tables.has(target) || columns.get(table)?.has(column)) continue;
      const list = listOfIndex(existing, table);
      if (list && (tables.has(list.table) || columns.get(list.table)?.has(list.column))) continue;
      if (list)
        throw new OperatorError(
          `--drop ${target}: the rows of ${list.table} have its ids in ${list.column}; drop ${list.table}.${camelCase(list.column.replaceAll("_", "-"))} too`,
        );
      throw new OperatorError(
        `--drop ${target}: the column ${table}.${column} refers to it; drop ${table}.${camelCase(column.replaceAll("_", "-"))} too`,
      );
    }
  }
  return { columns, tables: [...tables] };
}

/** A table, and that of the deleted rows of its resource. */
function withDeletedRows(declared: readonly Table[], table: string): readonly string[] {
  const deleted = declared.find(({ name }) => name === table)?.resource?.deletedRows?.table;
  return deleted === undefined ? [table] : [table, deleted];
}

/** The table and the column of the list whose elements a table indexes; undefined for another table. */
function listOfIndex(
  existing: ExistingTables,
  name: string,
): { readonly table: string; readonly column: string } | undefined {
  for (const [table, { elementIndexes }] of existing) {
    const column = elementIndexes.get(name);
    if (column !== undefined) return { table, column };
  }
  return undefined;
}

function droppedTable(
  existing: ExistingTables,
  declared: readonly Table[],
  { name, table }: DropRequest,
): string {
  const owner = declared.find((each) => each.name === table);
  if (owner?.resource)
    throw new OperatorError(
      `--drop ${name}: the resource ${owner.resource.name} is declared; remove it from the declarations first`,
    );
  if (owner) throw new OperatorError(`--drop ${name}: the table belongs to the server itself`);
  const found = existing.get(table);
  if (!found) throw new OperatorError(`--drop ${name}: there is no table ${table}`);
  if (!isOfResource(found))
    throw new OperatorError(`--drop ${name}: ${table} is not the table of a resource`);
  return table;
}

function droppedColumn(
  existing: ExistingTables,
  declared: readonly Table[],
  { name, table }: DropRequest,
  requested: string,
): string {
  const owner = declared.find((each) => each.name === table);
  const found = existing.get(table);
  if (!found || (!owner && !isOfResource(found)))
    throw new OperatorError(`--drop ${name}: there is no table ${table} of a resource`);
  if (!owner)
    throw new OperatorError(
      `--drop ${name}: no resource declares ${table}; drop it as a whole: --drop ${table}`,
    );
  if (!owner.resource) throw new OperatorError(`--drop ${name}: the table belongs to the server itself`);
  const column = [requested, `${requested}_id`].find((each) => found.columns.has(each));
  if (column === undefined)
    throw new OperatorError(`--drop ${name}: the table ${table} has no column ${requested}`);
  const field = owner.resource.attributes.find((each) => each.column === column);
  if (field)
    throw new OperatorError(
      `--drop ${name}: the field ${field.name} of ${owner.resource.name} is declared; remove it from the declaration first`,
    );
  if (isServerColumn(column))
    throw new OperatorError(`--drop ${name}: the column belongs to the server itself`);
  return column;
}

/** The table as it is once the columns are dropped, with the indexes that contain them. */
export function withoutColumns(existing: ExistingTable, dropped: ReadonlySet<string>): ExistingTable {
  if (dropped.size === 0) return existing;
  const isKept = ([name]: readonly [string, unknown]): boolean => !dropped.has(name);
  const lost = indexesOn(existing, dropped);
  const description: { -readonly [Key in keyof TableDescription]: ExistingTable[Key] } = {
    ...existing,
    columns: new Map([...existing.columns].filter(isKept)),
    references: new Map([...existing.references].filter(isKept)),
    indexes: new Set([...existing.indexes].filter((name) => !lost.includes(name))),
  };
  return description;
}

/** The indexes that contain one of the columns, if the database does not drop them with the column. */
export function indexesOn(existing: ExistingTable, columns: ReadonlySet<string>): string[] {
  return [...existing.indexColumns]
    .filter(([, indexed]) => indexed.some((column) => columns.has(column)))
    .map(([name]) => name);
}
