// Tables of resources that are declared no longer. Nothing drops them: what they hold may still be wanted.

import type { Store } from "../store.ts";
import type { Table } from "./ddl.ts";
import { existingTables } from "./migrate.ts";
import type { ExistingTable } from "./tables.ts";

/** Columns that every table of a resource has. */
const resourceColumns = ["tenant_id", "id", "created_at", "updated_at"];

/** The names of tables of former resources that have rows. */
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
