// Deletes the contents of files that no row has any longer. A file is marked in the transaction that gives it up, so a crash
// loses none.

import type { PeriodicWork } from "../jobs/periodic-task.ts";
import { dayMs } from "../jobs/purge.ts";
import type { Store } from "../store/store.ts";
import { deleteLeftovers } from "./received-content.ts";
import type { FileStorage } from "./storage.ts";
import {
  deleteRemoved,
  maxStoringMs,
  removalBatch,
  removeStaleCancelled,
  removeUnused,
  selectRemoved,
} from "./table.ts";

const intervalMs = 2_000;
/** After so many, the storage itself fails, and is left alone until the next time. */
const maxFailures = 10;
/** How long an upload waits for a row. */
const unusedMs = dayMs;
const leftoversIntervalMs = 10 * 60 * 1000;

export function removalWork(store: Store, storage: FileStorage): readonly PeriodicWork[] {
  return [
    { name: "deleting files", intervalMs, run: (signal) => deleteContents(store, storage, signal) },
    {
      ...{ name: "deleting unused uploads", intervalMs: leftoversIntervalMs },
      run: async () => {
        const now = Date.now();
        await deleteLeftovers(storage.incoming, now);
        const [unusedBefore, storedBefore, timestamp] = [now - unusedMs, now - maxStoringMs, now].map(
          (time) => new Date(time).toISOString(),
        ) as [string, string, string];
        await store.transaction(async (session) => {
          await removeUnused(store).run(session, { before: unusedBefore, now: timestamp });
          await removeStaleCancelled(store).run(session, { before: storedBefore, now: timestamp });
        });
      },
    },
  ];
}

/** The content goes first: while it may exist, the row of the file says so. */
export async function deleteContents(
  store: Store,
  storage: FileStorage,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    const removed = await selectRemoved(store).all(store.database);
    const failures: unknown[] = [];
    for (const { id } of removed) {
      if (signal?.aborted) return;
      try {
        await storage.delete(id);
        await store.transaction((session) => deleteRemoved(store).run(session, { id }));
      } catch (error) {
        // One content that cannot be deleted must not keep the others.
        failures.push(error);
        if (failures.length === maxFailures) throw error;
      }
    }
    if (failures.length > 0) throw failures[0];
    if (removed.length < removalBatch) return;
  }
}
