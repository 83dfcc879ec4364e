// The table of a resource.

import { isJson, orderedChoices } from "../../declare/field.ts";
import { OperatorError } from "../../errors.ts";
import { dayOf } from "../../lib/calendar-date.ts";
import type { Scale } from "../../lib/decimal.ts";
import type { Attribute, IndexModel, ResourceModel } from "../../model/model.ts";
import { deletedAt, deletionColumns } from "../../model/soft-deletion.ts";
import { searchIndexName } from "./index-names.ts";
import {
  type CheckFill,
  type Column,
  type ColumnType,
  type ForeignKey,
  type Index,
  searchColumn,
  type Table,
} from "./table.ts";

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
    ...(resource.deletedOf
      ? [
          column(deletionColumns.with, "text"),
          column(deletionColumns.order, "integer"),
          { ...column(deletionColumns.rowNumber, "integer"), isNullable: true },
        ]
      : []),
  ];
}

/** The table of a resource, without indexes: their names depend on all tables. */
export function resourceTable(resource: ResourceModel, checkFill: CheckFill): Table {
  return {
    name: resource.table,
    resource,
    columns: columnsOf(resource, checkFill),
    primaryKey: ["tenant_no", "id"],
    indexes: [],
    foreignKeys: foreignKeysOf(resource),
    search: searchOf(resource),
  };
}

function foreignKeysOf({ references, parent, deletedOf }: ResourceModel): ForeignKey[] {
  // Rows can be deleted although a deleted row refers to them.
  if (deletedOf) return [];
  return references.map((attribute) => ({
    column: attribute.column,
    table: attribute.reference!.target.table,
    onDelete: attribute === parent ? "cascade" : "restrict",
  }));
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
      return checkFill ? checkFill(resource.deletedOf ?? resource, attribute, computed) : computed;
    });
  const standard = "default" in field.options ? field.options.default : undefined;
  const isComputed = typeof fill === "function";
  const constant = isComputed || fill === undefined ? standard : checked(() => fill);
  return {
    name: column,
    type: columnType(attribute),
    isNullable: isOptional,
    // Rows that a process of an earlier version inserts have to be filled too.
    defaultValue: isComputed ? undefined : defaultValueOf(field.kind, constant),
    defaultsToNow:
      (field.kind === "timestamp" && constant === "now") || (field.kind === "date" && constant === "today"),
    ...(resource.keptCounts.some((count) => count.attribute === attribute) && { hasDefault: true }),
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

/** The type of the column of an attribute. */
export function columnType({ field }: Attribute): ColumnType {
  // The scale was validated with the declaration.
  return field.kind === "decimal" ? `decimal_${field.options.scale as Scale}` : columnTypes[field.kind];
}

const columnTypes = {
  id: "text",
  text: "text",
  choice: "text",
  date: "text",
  belongsTo: "text",
  computedStatus: "text",
  integer: "integer",
  number: "number",
  boolean: "boolean",
  timestamp: "timestamp",
  json: "json",
  list: "json",
  manyToMany: "json",
  file: "json",
} as const;

function defaultValueOf(kind: Attribute["field"]["kind"], value: unknown): Column["defaultValue"] {
  if (kind === "belongsTo" || typeof value === "function" || value === undefined) return undefined;
  if (isJson({ kind })) return JSON.stringify(value);
  if (kind === "timestamp") return (value === "now" ? new Date() : new Date(String(value))).toISOString();
  if (kind === "date" && value === "today") return dayOf(new Date().toISOString());
  // The constant default of any other kind is a string, a number or a boolean.
  return value as string | number | boolean;
}

/** The indexes of a resource's table, without names. */
export function indexesOf({ indexes, deletedOf }: ResourceModel): Omit<Index, "name">[] {
  if (!deletedOf) return indexes.map(tableIndex);
  const more = [["tenant_no", deletionColumns.with], [deletedAt.column]].map((names) => ({
    columns: names.map((name) => ({ name, isNullable: false })),
    isUnique: false,
  }));
  return [...indexes.map(tableIndex), ...more];
}

/** Every index begins with the tenant, unless its values are unique across tenants. */
function tableIndex({ columns, unique }: IndexModel): Omit<Index, "name"> {
  const own = columns.map(({ attribute: { column, isNullable, field }, isDescending, isRanked }) => {
    const ranked = isRanked ? orderedChoices(field) : undefined;
    return { name: column, isNullable, isDescending, ...(ranked && { ranked }) };
  });
  const tenant = unique === "all tenants" ? [] : [{ name: "tenant_no", isNullable: false }];
  return { columns: [...tenant, ...own], isUnique: unique !== undefined };
}
