// The layout of a database: what all tables have in common. In layout 1 each row holds the id of its tenant, in layout 2
// its number. In layout 3, on SQLite, `updated_at` is computed (`store/update-time.ts`); on PostgreSQL it is layout 2.
// `portico migrate --layout` changes it.

import { OperatorError } from "../../errors.ts";
import { deletionColumns } from "../../model/soft-deletion.ts";
import { isOfResource } from "../schema/resource-tables.ts";
import type { DatabaseName, Table } from "../schema/table.ts";
import type { ExistingTable } from "../schema/tables.ts";
import { computesUpdatedAt, updatedAtColumn } from "../update-time.ts";

type Layout = 1 | 2 | 3;

export type DeclaredTable = Pick<Table, "name" | "resource">;

type ExistingTables = ReadonlyMap<string, ExistingTable>;

/** The layout of the existing tables; undefined for a database without tables. */
export function layoutOf(
  database: DatabaseName,
  existing: ExistingTables,
  declared: readonly DeclaredTable[],
): Layout | undefined {
  const tenants = existing.get("tenants");
  if (!tenants) return undefined;
  if (!tenants.columns.has("no")) return 1;
  const isOld = declared.some(
    ({ name, resource }) =>
      resource && computesUpdatedAt(database, resource) && storesUpdatedAt(existing.get(name)),
  );
  return isOld ? 2 : 3;
}

/** The existing tables that compute `updated_at` in layout 3 on SQLite, and do not yet. */
export function tablesToCompute(existing: ExistingTables, declared: readonly DeclaredTable[]): string[] {
  const tables = new Map(declared.map((table) => [table.name, table]));
  const computes = (name: string, table: ExistingTable): boolean => {
    const found = tables.get(name);
    if (!found) return wasOfApp(table);
    return found.resource !== undefined && computesUpdatedAt("sqlite", found.resource);
  };
  return [...existing]
    .filter(([name, table]) => computes(name, table) && storesUpdatedAt(table))
    .map(([name]) => name);
}

/** Whether a table that is not declared has the rows of an app's resource, which are not deleted ones. */
function wasOfApp(table: ExistingTable): boolean {
  const isOfTenants = isOfResource(table) || isOfResource(table, "tenant_id");
  return isOfTenants && !Object.values(deletionColumns).every((column) => table.columns.has(column));
}

function storesUpdatedAt(table: ExistingTable | undefined): boolean {
  return table?.columns.get(updatedAtColumn)?.isComputed === false;
}

/** @throws OperatorError for a database of an earlier layout, which this version cannot read */
export function refuseOldLayout(
  database: DatabaseName,
  existing: ExistingTables,
  declared: readonly DeclaredTable[],
): void {
  const layout = layoutOf(database, existing, declared);
  if (layout === undefined || layout === 3) return;
  throw new OperatorError(
    "the database has the layout of an earlier version; stop its servers, then run portico migrate --layout",
  );
}
