// The index of the elements of a list: a table with a row for each element of each row, in the order of the default sort
// for each value. Triggers of the database write it, so that processes of every version do.

import { type Attribute, defaultSort, type ResourceModel } from "../../model/model.ts";
import { identifier, indexPrefix } from "./index-names.ts";
import { columnType } from "./resource-table.ts";
import type { Column, ColumnType, ElementIndex, Table } from "./table.ts";

/** The column of the elements. */
export const elementColumn = "value";

/** The name of a trigger is this prefix and that of its table; PostgreSQL truncates names after 63 characters. */
export const elementTriggerPrefix = `${indexPrefix}elements_`;
const maxNameLength = 63 - elementTriggerPrefix.length;

/** The name of the table that indexes the elements of a list. */
export function elementTableName({ table }: Pick<ResourceModel, "table">, { column }: Attribute): string {
  return identifier(`${table}_${column}_elements`, maxNameLength);
}

/** The table that records how far the elements of the rows are indexed. It exists until all are. */
export function elementStateTable({ name }: Pick<ElementIndex, "name">): string {
  return `${name}_state`;
}

/** What is equal for, or orders, the rows of a page: the parent, and the default sort. */
function pageAttributes({ parent, attribute }: ResourceModel): Attribute[] {
  return [...(parent ? [parent] : []), attribute.get(defaultSort)!, attribute.get("id")!];
}

/** The indexes of the elements of a resource's lists. */
export function elementIndexesOf(resource: ResourceModel): ElementIndex[] {
  return resource.elementIndexes.map((list) => ({
    name: elementTableName(resource, list),
    table: resource.table,
    list: list.column,
    elementKind: list.element!.field.kind,
    columns: pageAttributes(resource).map(({ column }) => column),
  }));
}

/** Their tables. */
export function elementTables(resource: ResourceModel): Table[] {
  const ordered = pageAttributes(resource);
  return elementIndexesOf(resource).map(({ name, columns }, index): Table => {
    const list = resource.elementIndexes[index]!;
    const from = `resource ${resource.name}, field ${list.name}`;
    const column = (columnName: string, type: ColumnType): Column => ({
      ...{ name: columnName, type, isNullable: false, defaultValue: undefined, from },
    });
    return {
      name,
      columns: [
        column("tenant_no", "tenant"),
        column(elementColumn, columnType(list.element!)),
        ...ordered.map((each) => column(each.column, columnType(each))),
      ],
      primaryKey: ["tenant_no", elementColumn, ...columns],
      isOrderedByKey: true,
      indexes: [],
      foreignKeys: list.links
        ? [{ column: elementColumn, table: list.links.target.table, onDelete: "restrict" }]
        : [],
      search: undefined,
    };
  });
}
