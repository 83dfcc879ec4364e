// Tables and columns of resources and fields that are no longer declared. A migration drops them on request only, because
// their values may still be needed.

import type { Store } from "../store.ts";
import { existingTables } from "./migrate.ts";
import { isOfResource } from "./resource-tables.ts";
import { searchColumn, type Table } from "./table.ts";

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

/** The columns of declared tables that belong to no field: `posts.slug`. */
export async function undeclaredColumns(store: Store, tables: readonly Table[]): Promise<string[]> {
  const existing = await existingTables(store);
  const ofResources = tables.filter(({ resource }) => resource !== undefined);
  return ofResources.flatMap(({ name, columns }) =>
    [...(existing.get(name)?.columns.keys() ?? [])]
      .filter((column) => column !== searchColumn && !columns.some((each) => each.name === column))
      .map((column) => `${name}.${column}`),
  );
}
