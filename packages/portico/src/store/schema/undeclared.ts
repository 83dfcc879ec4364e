// Tables of resources that are no longer declared. No migration drops them, because their rows may still be needed.

import type { Store } from "../store.ts";
import type { Table } from "./ddl.ts";
import { existingTables } from "./migrate.ts";
import type { ExistingTable } from "./tables.ts";

/** The columns that the table of every resource has. */
const resourceColumns = ["tenant_no", "id", "created_at", "updated_at"];

/** The names of such tables that contain rows. */
export async function undeclaredTables(store: Store, tables: readonly Table[]): Promise<string[]> {
  const declared = new Set(tables.map(({ name }) => name));
  const undeclared: string[] = [];
  for (const [name, table] of await existingTables(store)) {
    if (declared.has(name) || !isOfResource(table)) continue;
    const text = `select 1 from "${name.replaceAll('"', '""')}" limit 1`;
    const rows = await store.database.query({ sql: text, bind: () => [] }, undefined);
    if (rows.length > 0) undeclared.push(name);
  }
  return undeclared.sort();
}

function isOfResource({ columns }: ExistingTable): boolean {
  return resourceColumns.every((name) => columns.has(name));
}
