// The queries on deliveries.

import { sql } from "kysely";
import type { RecordedEvent } from "../events/recorded-event.ts";
import { newId } from "../lib/id.ts";
import type { Model } from "../model/model.ts";
import type { Session } from "../store/database.ts";
import { defineQuery, type ParametersOf, type QueryRow } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { attemptsTable, webhookDeliveries } from "./delivery.ts";
import type { OfEndpoint } from "./endpoint-queue.ts";

/** Due deliveries that one query returns: more than one endpoint is sent at once. */
export const maxDue = 64;

/** Those of an endpoint, in the order in which they became due. */
export const selectDue = defineQuery(
  [webhookDeliveries],
  (db, { tenantId, endpointId, now }: ParametersOf<OfEndpoint & { now: string }>) =>
    db
      .selectFrom("webhook_deliveries")
      .select([
        "id",
        "event_id as eventId",
        "event_type as eventType",
        "row_key as rowKey",
        "event_sequence as eventSequence",
        "payload",
        "attempts",
        "created_at as createdAt",
      ])
      .where("tenant_no", "=", tenantId)
      .where("endpoint_id", "=", endpointId)
      .where("status", "=", sql.lit("pending"))
      .where("next_attempt_at", "<=", now)
      .orderBy("next_attempt_at")
      .orderBy("id")
      .limit(sql.lit(maxDue)),
);

export type DueDelivery = QueryRow<typeof selectDue>;

/** When the next delivery of an endpoint is due; null if none is pending. */
export const selectNextDue = defineQuery(
  [webhookDeliveries],
  (db, { tenantId, endpointId }: ParametersOf<OfEndpoint>) =>
    db
      .selectFrom("webhook_deliveries")
      .select(({ fn }) => fn.min("next_attempt_at").as("dueAt"))
      .where("tenant_no", "=", tenantId)
      .where("endpoint_id", "=", endpointId)
      .where("status", "=", sql.lit("pending")),
);

/** The rows, of a JSON list of keys, for which a delivery is pending. */
export const selectPendingRows = defineQuery(
  [webhookDeliveries],
  (db, { tenantId, endpointId, rowKeys }: ParametersOf<OfEndpoint & { rowKeys: string }>, dialect) =>
    db
      .selectFrom("webhook_deliveries")
      .select("row_key as rowKey")
      .distinct()
      .where("tenant_no", "=", tenantId)
      .where("endpoint_id", "=", endpointId)
      .where("status", "=", sql.lit("pending"))
      .where(sql<boolean>`row_key in (${dialect.textsOf(rowKeys)})`),
);

interface Outcome {
  readonly tenantId: string;
  readonly id: string;
  readonly status: "pending" | "succeeded" | "failed";
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly durationMs: number | null;
  readonly at: string;
}

export const updateDelivery = defineQuery([webhookDeliveries], (db, outcome: ParametersOf<Outcome>) =>
  db
    .updateTable("webhook_deliveries")
    .set({
      status: outcome.status,
      attempts: outcome.attempts,
      next_attempt_at: outcome.nextAttemptAt,
      last_status: outcome.lastStatus,
      last_error: outcome.lastError,
      duration_ms: outcome.durationMs,
      updated_at: outcome.at,
    })
    .where("tenant_no", "=", outcome.tenantId)
    .where("id", "=", outcome.id),
);

interface AttemptRow {
  readonly tenantId: string;
  readonly deliveryId: string;
  readonly number: number;
  readonly at: string;
  readonly status: number | null;
  readonly durationMs: number;
  readonly error: string | null;
  readonly response: string | null;
}

export const insertAttempt = defineQuery([attemptsTable], (db, attempt: ParametersOf<AttemptRow>) =>
  db.insertInto("webhook_attempts").values({
    tenant_no: attempt.tenantId,
    delivery_id: attempt.deliveryId,
    number: attempt.number,
    created_at: attempt.at,
    status: attempt.status,
    duration_ms: attempt.durationMs,
    error: attempt.error,
    response: attempt.response,
  }),
);

/** Makes the next delivery of a row due, whose earlier one has ended. */
export const releaseNext = defineQuery(
  [webhookDeliveries],
  (db, { tenantId, endpointId, rowKey, now }: ParametersOf<OfEndpoint & { rowKey: string; now: string }>) =>
    db
      .updateTable("webhook_deliveries")
      .set({ next_attempt_at: now })
      .where("tenant_no", "=", tenantId)
      .where("next_attempt_at", "is", null)
      .where("id", "=", (eb) =>
        eb
          .selectFrom("webhook_deliveries")
          .select("id")
          .where("tenant_no", "=", tenantId)
          .where("endpoint_id", "=", endpointId)
          .where("status", "=", sql.lit("pending"))
          .where("row_key", "=", rowKey)
          .orderBy("event_transaction")
          .orderBy("event_sequence")
          .orderBy("id")
          .limit(sql.lit(1)),
      ),
);

const abandonedAtOnce = 500;

/** Fails pending deliveries of an endpoint, some at a time. */
export const abandonPending = defineQuery(
  [webhookDeliveries],
  (db, { tenantId, endpointId, now, error }: ParametersOf<OfEndpoint & { now: string; error: string }>) =>
    db
      .updateTable("webhook_deliveries")
      .set({ status: sql.lit("failed"), next_attempt_at: sql.lit(null), last_error: error, updated_at: now })
      .where("tenant_no", "=", tenantId)
      .where("id", "in", (eb) =>
        eb
          .selectFrom("webhook_deliveries")
          .select("id")
          .where("tenant_no", "=", tenantId)
          .where("endpoint_id", "=", endpointId)
          .where("status", "=", sql.lit("pending"))
          .limit(sql.lit(abandonedAtOnce)),
      )
      .returning("id"),
);

/** A delivery to be added. */
export interface NewDelivery {
  readonly eventId: string;
  readonly eventType: string;
  readonly rowKey: string;
  readonly eventTransaction: number;
  readonly eventSequence: number;
  readonly payload: string | null;
}

/** The delivery of a recorded event. */
export function newDelivery({ id, type, resource, rowId, position }: RecordedEvent): NewDelivery {
  return {
    ...{ eventId: id, eventType: type, rowKey: `${resource} ${rowId}` },
    ...{ eventTransaction: position.transactionId, eventSequence: position.sequence, payload: null },
  };
}

/**
 * Adds deliveries of an endpoint, in their order, in a transaction that has locked its queue. The first pending delivery
 * of each row is due; the others wait for it.
 */
export async function insertDeliveries(
  { store, model }: { readonly store: Store; readonly model: Model },
  session: Session,
  { tenantId, endpointId }: OfEndpoint,
  deliveries: readonly NewDelivery[],
  { now, dueAt }: { readonly now: string; readonly dueAt: string },
): Promise<readonly string[]> {
  const resource = model.resource.get(webhookDeliveries.name)!;
  const rowKeys = JSON.stringify([...new Set(deliveries.map(({ rowKey }) => rowKey))]);
  const pending = await selectPendingRows(store).all(session, { tenantId, endpointId, rowKeys });
  const waiting = new Set(pending.map(({ rowKey }) => rowKey));
  const ids: string[] = [];
  for (const delivery of deliveries) {
    const id = newId("webhook_delivery");
    const isWaiting = waiting.has(delivery.rowKey);
    waiting.add(delivery.rowKey);
    const values = {
      ...{ id, endpointId, status: "pending", attempts: 0, ...delivery },
      nextAttemptAt: isWaiting ? null : dueAt,
      ...{ lastStatus: null, lastError: null, durationMs: null, createdAt: now, updatedAt: now },
    };
    await store.writes.insert(session, { resource, tenantId, values });
    ids.push(id);
  }
  return ids;
}
