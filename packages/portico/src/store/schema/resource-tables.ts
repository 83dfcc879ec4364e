// What the tables of all resources have in common.

import { searchColumn } from "./table.ts";
import type { ExistingTable } from "./tables.ts";

/** The columns that the table of every resource has, besides that of the tenant. */
const resourceColumns = ["id", "created_at", "updated_at"];
const tenantColumn = "tenant_no";

/** @param tenant the column of the tenant, which has another name in an earlier layout */
export function isOfResource({ columns }: ExistingTable, tenant: string = tenantColumn): boolean {
  return [tenant, ...resourceColumns].every((name) => columns.has(name));
}

/** Whether a column of a resource's table belongs to no field. */
export function isServerColumn(column: string): boolean {
  return [tenantColumn, ...resourceColumns, searchColumn].includes(column);
}
