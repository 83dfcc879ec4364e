// Changes the layout of a SQLite file. A new file is filled beside it and takes its place by one renaming, so that the
// database is either of the old layout or of the new one, whenever the process ends. The old file stays as the backup.

import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { backup as copyDatabase, DatabaseSync } from "node:sqlite";
import { OperatorError } from "../../errors.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { standardOptions } from "../database.ts";
import { SqliteDatabase } from "../sqlite/database.ts";
import { sqliteDialect } from "../sqlite/dialect.ts";
import { Store } from "../store.ts";
import type { CompleteTables, CopyProgress, LayoutChange, TablesToChange } from "./change.ts";
import { refuseTriggersThatSet } from "./checked-triggers.ts";
import { computeUpdatedAt } from "./computed-times.ts";
import { deferTriggersOf } from "./deferred-triggers.ts";
import { copyTables } from "./sqlite-tables.ts";

/** The pages that are copied without a break. */
const pagesPerBatch = 10_000;
/** How long another process may take to finish a statement. */
const lockTimeoutMs = 2_000;

/**
 * @param complete creates the indexes, and what the declarations have added
 * @throws OperatorError if it is not possible; the file is then as it was
 */
export async function changeSqliteLayout(
  file: string,
  { layout, withTenantId, withUpdatedAt, declared }: TablesToChange,
  complete: CompleteTables,
  onProgress: CopyProgress,
): Promise<LayoutChange> {
  const next = `${file}.layout-3`;
  const backup = `${file}.layout-${layout}`;
  refuseOtherBackup(file, backup);
  requireSpace(file);
  // What an interrupted change has left behind is locked while another process fills it.
  const database = openExclusively(file, next);
  try {
    const copied = layout === 1 ? copyTables(database, new Set(withTenantId), onProgress) : 0;
    if (layout === 2) await copyDatabase(database, next, { source: "old", rate: pagesPerBatch });
    deferTriggersOf(database);
    const computed = computeUpdatedAt(database, withUpdatedAt, declared, onProgress);
    refuseTriggersThatSet(database);
    await completeFile(next, complete);
    replaceFile(file, next, backup);
    return layout === 1
      ? { tables: withTenantId.length, rows: copied, backup }
      : { tables: withUpdatedAt.length, rows: computed, backup };
  } catch (error) {
    removeDatabase(next);
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${errorMessage(error)}; the database is as it was`, { cause: error });
  } finally {
    // Until here, no other process can open the old file.
    database.close();
  }
}

/**
 * A new file, to which the database is attached as `old`. SQLite gives the exclusive lock of a file only while no other
 * process has it open. The new file needs no journal: if the process ends, it is filled again.
 */
function openExclusively(file: string, next: string): DatabaseSync {
  const holder = new DatabaseSync(":memory:", { enableForeignKeyConstraints: false });
  try {
    lockOld(holder, file);
  } finally {
    holder.close();
  }
  removeDatabase(next);
  // Only the owner may read email addresses and hashes.
  closeSync(openSync(next, "wx", 0o600));
  const database = new DatabaseSync(next, { enableForeignKeyConstraints: false, defensive: false });
  try {
    database.exec("pragma journal_mode = off; pragma synchronous = off");
    lockOld(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** @throws OperatorError if another process has the file open */
function lockOld(database: DatabaseSync, file: string): void {
  database.exec(`pragma busy_timeout = ${lockTimeoutMs}`);
  database.prepare("attach database ? as old").run(file);
  try {
    // Without the write-ahead log, all of the database is in one file.
    database.exec(
      "pragma old.locking_mode = exclusive; pragma old.journal_mode = delete; begin exclusive; commit",
    );
  } catch (error) {
    throw new OperatorError(
      `the database ${file} is in use (${errorMessage(error)}); stop the servers first`,
    );
  }
}

/** @throws OperatorError if the backup of an earlier change exists */
function refuseOtherBackup(file: string, backup: string): void {
  if (!existsSync(backup)) return;
  const [one, other] = [statSync(file), statSync(backup)];
  if (one.ino !== other.ino || one.dev !== other.dev)
    throw new OperatorError(`${backup} exists; move it to another place first`);
  // An interrupted change has named the database, and has not replaced it.
  rmSync(backup);
}

/** @throws OperatorError if the file system may not hold a second database */
function requireSpace(file: string): void {
  const { bavail, bsize } = statfsSync(dirname(file));
  const [free, needed] = [bavail * bsize, statSync(file).size];
  if (free >= needed) return;
  throw new OperatorError(
    `${dirname(file)} has ${mebibytes(free)} MiB free; the copy needs up to ${mebibytes(needed)} MiB`,
  );
}

function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 1024 ** 2);
}

async function completeFile(file: string, complete: CompleteTables): Promise<void> {
  const store = new Store(sqliteDialect, new SqliteDatabase(file, standardOptions));
  try {
    await complete(store);
  } finally {
    await store.database.close();
  }
}

function replaceFile(file: string, next: string, backup: string): void {
  sync(next);
  linkSync(file, backup);
  renameSync(next, file);
  sync(dirname(file));
}

/** Waits until a file or a folder is on the disk. */
function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function removeDatabase(file: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${file}${suffix}`, { force: true });
}
