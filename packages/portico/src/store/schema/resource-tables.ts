// What the tables of all resources have in common.

import { searchColumn } from "./ddl.ts";
import type { ExistingTable } from "./tables.ts";

/** The columns that the table of every resource has. */
const resourceColumns = ["tenant_no", "id", "created_at", "updated_at"];

export function isOfResource({ columns }: ExistingTable): boolean {
  return resourceColumns.every((name) => columns.has(name));
}

/** Whether a column of a resource's table belongs to no field. */
export function isServerColumn(column: string): boolean {
  return [...resourceColumns, searchColumn].includes(column);
}
