// The calls that are pending or were set aside, for operators.

import { isId } from "../lib/id.ts";
import type { Store } from "../store/store.ts";
import { wakeQueue } from "./handler-queue.ts";
import {
  retryJob,
  type StoredJob,
  selectFailedJobs,
  selectJob,
  selectJobs,
  selectPendingRows,
} from "./job-queries.ts";

/** Calls of a tenant, newest first. */
export function listJobs(
  store: Store,
  tenantId: string,
  count: number,
  isFailed: boolean,
): Promise<readonly StoredJob[]> {
  return (isFailed ? selectFailedJobs : selectJobs)(store).all(store.database, { tenantId, count });
}

/** A call; undefined if there is none, or it has succeeded. */
export async function findJob(store: Store, tenantId: string, id: string): Promise<StoredJob | undefined> {
  return isId(id) ? selectJob(store).first(store.database, { tenantId, id }) : undefined;
}

/**
 * Makes a call pending again that was set aside. It waits for one that is pending for the same row.
 * @returns whether it was set aside
 */
export function retry(store: Store, tenantId: string, { id, handler, rowKey }: StoredJob): Promise<boolean> {
  const now = new Date().toISOString();
  return store.transaction(async (session) => {
    const queue = { tenantId, handler };
    await wakeQueue(store).run(session, { ...queue, dueAt: now, now });
    const rowKeys = JSON.stringify([rowKey]);
    const pending = await selectPendingRows(store).all(session, { ...queue, rowKeys });
    const nextAttemptAt = pending.length > 0 ? null : now;
    return (await retryJob(store).first(session, { tenantId, id, now, nextAttemptAt })) !== undefined;
  });
}
