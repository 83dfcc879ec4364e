// The attempts of a delivery: `GET /v1/webhook-deliveries/{id}/attempts`.

import { sql } from "kysely";
import { requireScope } from "../engine/authorize.ts";
import { requireParentRow } from "../engine/find-row.ts";
import type { Model } from "../model/model.ts";
import type { ReadReport, Report } from "../model/operations.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { attemptsTable, webhookDeliveries } from "./delivery.ts";

/** More than a schedule has, with manual retries. */
const maxAttempts = 1_000;

const text = { type: ["string", "null"] };

const attempt = {
  type: "object",
  properties: {
    number: { type: "integer" },
    createdAt: { type: "string", format: "date-time" },
    status: {
      type: ["integer", "null"],
      description: "The HTTP status of the response; null if there was none.",
    },
    durationMs: { type: "integer" },
    error: { ...text, description: "Why it failed; null if it succeeded." },
    response: { ...text, description: "The first 1,024 bytes of the body of the response." },
  },
  required: ["number", "createdAt", "status", "durationMs", "error", "response"],
};

const selectAttempts = defineQuery(
  [attemptsTable],
  (db, { tenantId, deliveryId }: ParametersOf<{ tenantId: string; deliveryId: string }>) =>
    db
      .selectFrom("webhook_attempts")
      .select([
        ...(["number", "created_at as createdAt", "status"] as const),
        ...(["duration_ms as durationMs", "error", "response"] as const),
      ])
      .where("tenant_no", "=", tenantId)
      .where("delivery_id", "=", deliveryId)
      .orderBy("number")
      .limit(sql.lit(maxAttempts)),
);

export const attemptsReport: Report = {
  id: "getWebhookDeliveryAttempts",
  resource: webhookDeliveries.name,
  segment: "attempts",
  summary: "List the attempts of a webhook delivery",
  parameters: [],
  output: {
    title: "WebhookAttemptList",
    type: "object",
    properties: {
      data: { type: "array", items: attempt },
      pagination: {
        type: "object",
        properties: { nextCursor: { type: "null" }, hasMore: { const: false } },
        required: ["nextCursor", "hasMore"],
      },
    },
    required: ["data", "pagination"],
  },
};

export function attemptsReader(model: Model, store: Store): ReadReport {
  const deliveries = model.resource.get(webhookDeliveries.name)!;
  return async (caller, deliveryId) => {
    requireScope(caller, deliveries.scopes.read);
    await requireParentRow(store, store.database, caller, deliveries, deliveryId);
    return selectAttempts(store).all(store.database, { tenantId: caller.tenantId, deliveryId });
  };
}
