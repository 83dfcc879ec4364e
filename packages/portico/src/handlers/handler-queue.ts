// The queue of each handler in each tenant: when its next call is due, and which process makes its calls. So the calls for
// a row have one order, and a tenant with many events takes up no turns of others.
//
// Whoever adds calls or makes them due locks the queue first (`wakeQueue`). The process that finds nothing more to do does
// the same, so that it cannot miss a call that was added meanwhile.

import { sql } from "kysely";
import { type JobOutcome, type Leased, LeaseQueue } from "../jobs/lease-queue.ts";
import type { Report } from "../lib/report.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { handlerQueuesTable } from "./tables.ts";

export interface OfQueue {
  readonly tenantId: string;
  /** The name of the handler. */
  readonly handler: string;
}

/** Locks a queue until the transaction ends, and makes it due at a time at the latest, unless a process works on it. */
export const wakeQueue = defineQuery(
  [handlerQueuesTable],
  (db, { tenantId, handler, dueAt, now }: ParametersOf<OfQueue & { dueAt: string; now: string }>) =>
    db
      .insertInto("handler_queues")
      .values({
        tenant_no: tenantId,
        id: handler,
        attempts: sql.lit(0),
        next_attempt_at: dueAt,
        updated_at: now,
      })
      .onConflict((conflict) =>
        conflict.columns(["tenant_no", "id"]).doUpdateSet({
          next_attempt_at: sql<string>`case
            when handler_queues.lease_id is null and handler_queues.next_attempt_at > excluded.next_attempt_at
            then excluded.next_attempt_at else handler_queues.next_attempt_at end`,
        }),
      ),
);

export const deleteQueues = defineQuery(
  [handlerQueuesTable],
  (db, input: ParametersOf<{ handler: string }>) =>
    db.deleteFrom("handler_queues").where("id", "=", input.handler),
);

export type LeasedQueue = Leased<unknown>;

export class HandlerQueues extends LeaseQueue<unknown, JobOutcome> {
  /**
   * @param handlers the names of those that this process can call
   * @param report called when the database rejects the update of a queue
   */
  constructor(store: Store, handlers: readonly string[], report: Report) {
    const job = store.dialect.rowJson([
      ["id", sql.ref("id")],
      ["attempts", sql.ref("attempts")],
    ]);
    const isPending = sql`id in (${sql.join(handlers.map((name) => sql.lit(name)))})`;
    const options = { table: handlerQueuesTable.name, isPending, job, outcomeColumns: {} };
    super(store, { ...options, jobName: "the queue of a handler" }, report);
  }
}
