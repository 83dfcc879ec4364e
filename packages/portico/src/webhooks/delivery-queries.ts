// The queries on deliveries.

import { sql } from "kysely";
import { type RecordedEvent, rowKeyOf } from "../events/recorded-event.ts";
import { defineQuery, type ParametersOf, type QueryRow } from "../store/own-tables/query.ts";
import { webhookDeliveries } from "./delivery.ts";
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

/** How many deliveries of an endpoint are pending, counted up to `max`. */
export const countPending = defineQuery(
  [webhookDeliveries],
  (db, { tenantId, endpointId, max }: ParametersOf<OfEndpoint & { max: number }>) =>
    db
      .selectFrom((each) =>
        each
          .selectFrom("webhook_deliveries")
          .select("id")
          .where("tenant_no", "=", tenantId)
          .where("endpoint_id", "=", endpointId)
          .where("status", "=", sql.lit("pending"))
          .limit(max)
          .as("pending"),
      )
      .select(({ fn }) => fn.countAll<number>().as("count")),
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
export function newDelivery(event: RecordedEvent): NewDelivery {
  const { id, type, position } = event;
  return {
    ...{ eventId: id, eventType: type, rowKey: rowKeyOf(event) },
    ...{ eventTransaction: position.transactionId, eventSequence: position.sequence, payload: null },
  };
}
