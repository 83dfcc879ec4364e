// `portico migrate --layout`: brings a database of an earlier version to the layout of this one.

import { OperatorError } from "../../errors.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { databaseFile, openStore } from "../open.ts";
import { existingTables } from "../schema/migrate.ts";
import { lockMigrations } from "../sqlite/migration-lock.ts";
import type { Store } from "../store.ts";
import {
  type CheckDatabase,
  type CompleteTables,
  type CopyProgress,
  type LayoutChange,
  type TablesToChange,
  tablesWithTenantId,
} from "./change.ts";
import { type DeclaredTable, layoutOf, tablesToCompute } from "./layout.ts";
import { changePostgresLayout } from "./postgres.ts";
import { changeSqliteLayout } from "./sqlite.ts";

/**
 * Whether the database has the layout of an earlier version.
 *
 * @param tables what the declarations need
 * @param check is called if it has layout 1
 * @throws OperatorError if the database cannot be opened, or `check` refuses it
 */
export async function hasOldLayout(
  url: string,
  tables: readonly DeclaredTable[],
  check: CheckDatabase,
): Promise<boolean> {
  return withDatabase(url, async (store) => {
    const layout = layoutOf(store.dialect.name, await existingTables(store), tables);
    if (layout === 1) await check(store);
    return layout !== undefined && layout !== 3;
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
  tables: readonly DeclaredTable[],
  complete: CompleteTables,
  onProgress: CopyProgress,
): Promise<LayoutChange | undefined> {
  const file = databaseFile(url);
  if (file === undefined) {
    const changed = await tablesToChange(url, tables);
    return changed && changePostgresLayout(url, changed.withTenantId, complete, onProgress);
  }
  const unlock = await lock(file);
  try {
    // Another process may have changed the layout while this one waited.
    const changed = await tablesToChange(url, tables);
    return changed && (await changeSqliteLayout(file, changed, complete, onProgress));
  } finally {
    unlock();
  }
}

/** Waits until no other process migrates the file. @throws OperatorError for a folder in which no file can be created */
async function lock(file: string): Promise<() => void> {
  try {
    return await lockMigrations(file);
  } catch (error) {
    throw new OperatorError(`${errorMessage(error)}; the database is as it was`, { cause: error });
  }
}

/** What is changed in which tables; undefined for a database of layout 3, and for one without tables. */
function tablesToChange(
  url: string,
  declared: readonly DeclaredTable[],
): Promise<TablesToChange | undefined> {
  return withDatabase(url, async (store) => {
    const existing = await existingTables(store);
    const layout = layoutOf(store.dialect.name, existing, declared);
    if (layout === undefined || layout === 3) return undefined;
    return {
      layout,
      withTenantId: layout === 1 ? tablesWithTenantId(existing, declared) : [],
      withUpdatedAt: tablesToCompute(existing, declared),
      declared: new Set(declared.map(({ name }) => name)),
    };
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
