// The lock of migrations: only one migrates a file at a time, also between the transactions of its steps. It is a lock on an
// empty file beside the database, which the operating system releases when the process ends.

import { existsSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { isBusy } from "./connection.ts";
import { createFile } from "./database-file.ts";

/** How often to retry the lock while another process migrates. */
const retryMs = 100;

/** Whether a process migrates the file, or has ended without removing its lock. */
export function isMigrating(file: string): boolean {
  return existsSync(lockOf(file));
}

/** Waits until no other process migrates the file. @returns a function that ends the lock */
export async function lockMigrations(file: string): Promise<() => void> {
  const path = lockOf(file);
  for (;;) {
    const unlock = tryLock(path);
    if (unlock) return unlock;
    await sleep(retryMs);
  }
}

function lockOf(file: string): string {
  return `${file}-migration`;
}

function tryLock(path: string): (() => void) | undefined {
  createFile(path);
  const opened = inodeOf(path);
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec("begin exclusive");
    // Another process removes the file when it is done; a lock on a file without a name excludes nobody.
    if (opened !== undefined && opened === inodeOf(path))
      return () => {
        rmSync(path, { force: true });
        lock.close();
      };
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
  lock.close();
  return undefined;
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}
