// The queries on calls of handlers.

import { sql } from "kysely";
import { defineQuery, type ParametersOf, type QueryRow } from "../store/own-tables/query.ts";
import type { OfQueue } from "./handler-queue.ts";
import { handlerJobsTable } from "./tables.ts";

/** Due calls that one query returns: more than one queue makes at once. */
const maxDue = 32;

/** Those of a queue, in the order in which they became due. */
export const selectDue = defineQuery(
  [handlerJobsTable],
  (db, { tenantId, handler, now }: ParametersOf<OfQueue & { now: string }>) =>
    db
      .selectFrom("handler_jobs")
      .select([
        "id",
        "event_id as eventId",
        "event_type as eventType",
        "row_key as rowKey",
        "event_sequence as eventSequence",
        "attempts",
      ])
      .where("tenant_no", "=", tenantId)
      .where("handler", "=", handler)
      .where("status", "=", sql.lit("pending"))
      .where("next_attempt_at", "<=", now)
      .orderBy("next_attempt_at")
      .orderBy("id")
      .limit(sql.lit(maxDue)),
);

export type DueJob = QueryRow<typeof selectDue>;

/** When the next call of a queue is due; null if none is pending. */
export const selectNextDue = defineQuery(
  [handlerJobsTable],
  (db, { tenantId, handler }: ParametersOf<OfQueue>) =>
    db
      .selectFrom("handler_jobs")
      .select(({ fn }) => fn.min("next_attempt_at").as("dueAt"))
      .where("tenant_no", "=", tenantId)
      .where("handler", "=", handler)
      .where("status", "=", sql.lit("pending")),
);

/** The rows, of a JSON list of keys, for which a call is pending. */
export const selectPendingRows = defineQuery(
  [handlerJobsTable],
  (db, { tenantId, handler, rowKeys }: ParametersOf<OfQueue & { rowKeys: string }>, dialect) =>
    db
      .selectFrom("handler_jobs")
      .select("row_key as rowKey")
      .distinct()
      .where("tenant_no", "=", tenantId)
      .where("handler", "=", handler)
      .where("status", "=", sql.lit("pending"))
      .where(sql<boolean>`row_key in (${dialect.textsOf(rowKeys)})`),
);

const jobColumns = [
  "id",
  "handler",
  "event_id as eventId",
  "event_type as eventType",
  "row_key as rowKey",
  "status",
  "attempts",
  "next_attempt_at as nextAttemptAt",
  "last_error as lastError",
  "created_at as createdAt",
  "updated_at as updatedAt",
] as const;

/** Calls of a tenant, newest first. */
export const selectJobs = defineQuery(
  [handlerJobsTable],
  (db, { tenantId, count }: ParametersOf<{ tenantId: string; count: number }>) =>
    db
      .selectFrom("handler_jobs")
      .select([...jobColumns])
      .where("tenant_no", "=", tenantId)
      .orderBy("id", "desc")
      .limit(count),
);

/** Those that were set aside. */
export const selectFailedJobs = defineQuery(
  [handlerJobsTable],
  (db, { tenantId, count }: ParametersOf<{ tenantId: string; count: number }>) =>
    db
      .selectFrom("handler_jobs")
      .select([...jobColumns])
      .where("tenant_no", "=", tenantId)
      .where("status", "=", sql.lit("failed"))
      .orderBy("id", "desc")
      .limit(count),
);

export type StoredJob = QueryRow<typeof selectJobs>;

export const selectJob = defineQuery(
  [handlerJobsTable],
  (db, { tenantId, id }: ParametersOf<{ tenantId: string; id: string }>) =>
    db
      .selectFrom("handler_jobs")
      .select([...jobColumns])
      .where("tenant_no", "=", tenantId)
      .where("id", "=", id),
);

/** Makes a call pending that was set aside. @returns nothing if it was not set aside */
export const retryJob = defineQuery(
  [handlerJobsTable],
  (
    db,
    {
      tenantId,
      id,
      now,
      nextAttemptAt,
    }: ParametersOf<{
      tenantId: string;
      id: string;
      now: string;
      nextAttemptAt: string | null;
    }>,
  ) =>
    db
      .updateTable("handler_jobs")
      .set({
        status: sql.lit("pending"),
        attempts: sql.lit(0),
        next_attempt_at: nextAttemptAt,
        updated_at: now,
      })
      .where("tenant_no", "=", tenantId)
      .where("id", "=", id)
      .where("status", "=", sql.lit("failed"))
      .returning("id"),
);

/** Sets aside all pending calls of a handler. */
export const abandonJobs = defineQuery(
  [handlerJobsTable],
  (db, { handler, now, error }: ParametersOf<{ handler: string; now: string; error: string }>) =>
    db
      .updateTable("handler_jobs")
      .set({ status: sql.lit("failed"), next_attempt_at: sql.lit(null), last_error: error, updated_at: now })
      .where("handler", "=", handler)
      .where("status", "=", sql.lit("pending")),
);
