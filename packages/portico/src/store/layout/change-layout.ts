// `portico migrate --layout`: brings a database of an earlier version to the layout of this one.

import { databaseFile, openStore } from "../open.ts";
import { existingTables } from "../schema/migrate.ts";
import type { Table } from "../schema/table.ts";
import type { Store } from "../store.ts";
import {
  type CheckDatabase,
  type CompleteTables,
  type CopyProgress,
  type LayoutChange,
  tablesToChange,
} from "./change.ts";
import { layoutOf } from "./layout.ts";
import { changePostgresLayout } from "./postgres.ts";
import { changeSqliteLayout } from "./sqlite.ts";

/**
 * Whether the database has the layout of an earlier version.
 *
 * @param check is called if it has
 * @throws OperatorError if the database cannot be opened, or `check` refuses it
 */
export async function hasOldLayout(url: string, check: CheckDatabase): Promise<boolean> {
  return withDatabase(url, async (store) => {
    const isOld = layoutOf(await existingTables(store)) === 1;
    if (isOld) await check(store);
    return isOld;
  });
}

/**
 * Changes the layout of a database that no server uses. If it fails or is interrupted, the database is as it was,
 * unless the message says that the layout is changed.
 *
 * @param tables what the declarations need
 * @param complete brings the copied tables to that, as `portico migrate` does
 * @returns undefined if the database has the layout already
 * @throws OperatorError if it is not possible
 */
export async function changeLayout(
  url: string,
  tables: readonly Pick<Table, "name">[],
  complete: CompleteTables,
  onProgress: CopyProgress,
): Promise<LayoutChange | undefined> {
  const changed = await tablesOfLayout1(url, tables);
  if (!changed) return undefined;
  const file = databaseFile(url);
  if (file === undefined) return changePostgresLayout(url, changed, complete, onProgress);
  return changeSqliteLayout(file, new Set(changed), complete, onProgress);
}

/** The tables whose rows have the id of a tenant; undefined for a database of another layout. */
function tablesOfLayout1(url: string, tables: readonly Pick<Table, "name">[]): Promise<string[] | undefined> {
  return withDatabase(url, async (store) => {
    const existing = await existingTables(store);
    return layoutOf(existing) === 1 ? tablesToChange(existing, tables) : undefined;
  });
}

async function withDatabase<Result>(url: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStore(url);
  try {
    return await work(store);
  } finally {
    await store.database.close();
  }
}
