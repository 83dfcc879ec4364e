// The queue of each endpoint: when its next delivery is due, and which process sends its deliveries. A process leases the
// queue of an endpoint, not single deliveries. So the deliveries of an endpoint have one order, and an endpoint that does
// not answer takes up no turns of others.
//
// Whoever adds deliveries to an endpoint or makes them due locks its queue first (`wakeQueue`). The process that finds
// nothing more to send does the same, so that it cannot miss a delivery that was added meanwhile.

import { sql } from "kysely";
import { type JobOutcome, type Leased, LeaseQueue } from "../jobs/lease-queue.ts";
import { never } from "../jobs/queue-lease.ts";
import type { Report } from "../lib/report.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import { ownTable } from "../store/own-tables/table.ts";
import type { Store } from "../store/store.ts";

/** `id` is that of the endpoint. `failing_since`: the first failure after the last success. */
export const endpointQueuesTable = ownTable(
  "webhook_queues",
  {
    tenant_no: "tenant",
    id: "text",
    attempts: "integer",
    lease_id: "text?",
    next_attempt_at: "timestamp",
    updated_at: "timestamp",
    failing_since: "timestamp?",
  },
  { primaryKey: ["tenant_no", "id"], indexes: [{ columns: ["next_attempt_at"] }] },
);

export interface OfEndpoint {
  readonly tenantId: string;
  readonly endpointId: string;
}

export const insertQueue = defineQuery(
  [endpointQueuesTable],
  (db, { tenantId, endpointId, now }: ParametersOf<OfEndpoint & { now: string }>) =>
    db
      .insertInto("webhook_queues")
      .values({
        tenant_no: tenantId,
        id: endpointId,
        attempts: sql.lit(0),
        next_attempt_at: sql.lit(never),
        updated_at: now,
      })
      .onConflict((conflict) => conflict.columns(["tenant_no", "id"]).doNothing()),
);

/**
 * Locks a queue until the transaction ends, and makes it due at a time at the latest, unless a process works on it. Returns
 * nothing if the endpoint was deleted: then nobody would send or fail what is added to it.
 */
export const wakeQueue = defineQuery(
  [endpointQueuesTable],
  (db, { tenantId, endpointId, dueAt }: ParametersOf<OfEndpoint & { dueAt: string }>) =>
    db
      .updateTable("webhook_queues")
      .set(({ eb, ref }) => ({
        next_attempt_at: eb
          .case()
          .when(eb.and([eb("lease_id", "is", null), eb("next_attempt_at", ">", dueAt)]))
          .then(dueAt)
          .else(ref("next_attempt_at"))
          .end(),
      }))
      .where("tenant_no", "=", tenantId)
      .where("id", "=", endpointId)
      .returning("id"),
);

export const deleteQueue = defineQuery(
  [endpointQueuesTable],
  (db, { tenantId, endpointId }: ParametersOf<OfEndpoint>) =>
    db.deleteFrom("webhook_queues").where("tenant_no", "=", tenantId).where("id", "=", endpointId),
);

/** Ends the series of failures of an endpoint: it was sent something, enabled again or given another URL. */
export const forgetFailures = defineQuery(
  [endpointQueuesTable],
  (db, { tenantId, endpointId }: ParametersOf<OfEndpoint>) =>
    db
      .updateTable("webhook_queues")
      .set({ failing_since: sql.lit(null) })
      .where("tenant_no", "=", tenantId)
      .where("id", "=", endpointId)
      .where("failing_since", "is not", null),
);

/** The first failure begins a series. @returns when it began */
export const recordFailure = defineQuery(
  [endpointQueuesTable],
  (db, { tenantId, endpointId, at }: ParametersOf<OfEndpoint & { at: string }>) =>
    db
      .updateTable("webhook_queues")
      .set(({ fn }) => ({ failing_since: fn.coalesce("failing_since", at) }))
      .where("tenant_no", "=", tenantId)
      .where("id", "=", endpointId)
      .returning("failing_since as failingSince"),
);

/** A lease on the queue of an endpoint, whose id is that of the job. */
export type LeasedQueue = Leased<QueueJob>;

interface QueueJob {
  /** Whether the last attempts of the endpoint have failed. SQLite returns a number. */
  readonly isFailing: boolean | number;
}

export class EndpointQueues extends LeaseQueue<QueueJob, JobOutcome> {
  /** @param report called when the database rejects the update of a queue */
  constructor(store: Store, report: Report) {
    const job = store.dialect.rowJson([
      ["id", sql.ref("id")],
      ["attempts", sql.ref("attempts")],
      ["isFailing", sql`failing_since is not null`],
    ]);
    super(
      store,
      {
        table: "webhook_queues",
        isPending: sql`true`,
        job,
        outcomeColumns: {},
        jobName: "the queue of an endpoint",
      },
      report,
    );
  }
}
