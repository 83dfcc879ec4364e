// Writes many calls of handlers: on PostgreSQL with one statement each.

import { sql } from "kysely";
import { type RecordedEvent, rowKeyOf } from "../events/recorded-event.ts";
import { compileReleaseNext, dueTimes } from "../jobs/row-order.ts";
import { newId } from "../lib/id.ts";
import {
  type ColumnRow,
  compileInsertRows,
  compileManyRows,
  rowColumns,
  type WriteRows,
} from "../store/compile/many-rows.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import type { OfQueue } from "./handler-queue.ts";
import { type DueJob, selectPendingRows } from "./job-queries.ts";
import { handlerJobsTable } from "./tables.ts";

/** A call that has ended. */
export interface Finished {
  readonly job: DueJob;
  readonly at: string;
  readonly status: "succeeded" | "pending" | "failed";
  /** Whether the call counts as an attempt. */
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly error: string | null;
}

interface Writes {
  readonly insert: WriteRows;
  readonly update: WriteRows;
  readonly delete: WriteRows;
  /** Makes the next call for a row due, whose earlier one has ended. */
  readonly releaseNext: WriteRows;
}

const compiled = new WeakMap<Store, Writes>();

function writesOf(store: Store): Writes {
  const known = compiled.get(store);
  if (known) return known;
  const key = { tenant_no: "tenant", id: "text" } as const;
  const outcome = { status: "text", attempts: "integer", next_attempt_at: "timestamp" } as const;
  const outcomeColumns = rowColumns({ ...key, ...outcome, last_error: "text", updated_at: "timestamp" });
  const set = outcomeColumns.slice(2).map(({ name }) => sql`${sql.ref(name)} = ${sql.ref(`n.${name}`)}`);
  const writes = {
    insert: compileInsertRows(store, handlerJobsTable.name, handlerJobsTable.columns),
    update: compileManyRows(
      store,
      outcomeColumns,
      (rows) => sql`update handler_jobs set ${sql.join(set)} from ${rows} as n
        where handler_jobs.tenant_no = n.tenant_no and handler_jobs.id = n.id`,
    ),
    delete: compileManyRows(
      store,
      rowColumns(key),
      (rows) =>
        sql`delete from handler_jobs where (tenant_no, id) in (select n.tenant_no, n.id from ${rows} as n)`,
    ),
    releaseNext: compileReleaseNext(store, handlerJobsTable.name, "handler"),
  };
  compiled.set(store, writes);
  return writes;
}

/**
 * Adds calls of a handler, in the order of their events, in a transaction that has locked its queue. The first pending call
 * for each row is due; the others wait for it.
 */
export async function insertJobs(
  store: Store,
  session: Session,
  { tenantId, handler }: OfQueue,
  events: readonly RecordedEvent[],
  { now, dueAt }: { readonly now: string; readonly dueAt: string },
): Promise<void> {
  const keys = events.map(rowKeyOf);
  const selectPending = (rowKeys: string) =>
    selectPendingRows(store).all(session, { tenantId, handler, rowKeys });
  const due = await dueTimes(keys, selectPending, dueAt);
  const rows = events.map((event, index): ColumnRow => {
    const { transactionId, sequence } = event.position;
    return {
      ...{ tenant_no: tenantId, id: newId("job"), handler, event_id: event.id, event_type: event.type },
      ...{ row_key: keys[index]!, event_transaction: transactionId, event_sequence: sequence },
      ...{ status: "pending", attempts: 0, next_attempt_at: due[index]!, last_error: null },
      ...{ created_at: now, updated_at: now },
    };
  });
  await writesOf(store).insert(session, rows);
}

/** Writes the outcomes of calls of a queue, in a transaction that has locked it. */
export async function writeOutcomes(
  store: Store,
  session: Session,
  { tenantId, handler }: OfQueue,
  finished: readonly Finished[],
): Promise<void> {
  const writes = writesOf(store);
  const succeeded = finished.filter(({ status }) => status === "succeeded");
  const others = finished.filter(({ status }) => status !== "succeeded");
  const ended = finished.filter(({ status }) => status !== "pending");
  if (succeeded.length > 0)
    await writes.delete(
      session,
      succeeded.map(({ job }) => ({ tenant_no: tenantId, id: job.id })),
    );
  if (others.length > 0)
    await writes.update(
      session,
      others.map(({ job, at, status, attempts, nextAttemptAt, error }) => ({
        ...{ tenant_no: tenantId, id: job.id, status, attempts, next_attempt_at: nextAttemptAt },
        ...{ last_error: error, updated_at: at },
      })),
    );
  if (ended.length > 0)
    await writes.releaseNext(
      session,
      ended.map(({ job, at }) => ({ tenant_no: tenantId, handler, row_key: job.rowKey, at })),
    );
}
