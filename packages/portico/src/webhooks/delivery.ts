// Deliveries: one for each event and endpoint, with their attempts.

import { sql } from "kysely";
import { ownContext } from "../auth/own-hook-context.ts";
import { choice, id, integer, text, timestamp } from "../declare/field.ts";
import { type Resource, resource } from "../declare/resource.ts";
import { Problem } from "../errors.ts";
import { dayMs, type RetentionPolicy } from "../jobs/purge.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import { ownTable } from "../store/own-tables/table.ts";
import type { OwnIndex } from "../store/schema/table.ts";
import type { Store } from "../store/store.ts";
import { selectIfEnabled } from "./endpoint-queries.ts";
import { wakeQueue } from "./endpoint-queue.ts";

export const webhookScopes = { read: "webhooks:read", write: "webhooks:manage" };

/** What is kept of the body of a response. */
export const maxResponseBytes = 1024;

const deliveryFields = {
  // Not a reference, so that deliveries outlive their endpoint.
  endpointId: id(),
  eventId: id({ description: "The `webhook-id` of every attempt, and of replays." }),
  eventType: text({ max: 200 }),
  status: choice(["pending", "succeeded", "failed"], { default: "pending" }),
  attempts: integer({ min: 0, default: 0 }),
  nextAttemptAt: timestamp({
    optional: true,
    description:
      "Null while an earlier delivery of the same row is pending, and once there is no further attempt.",
  }),
  lastStatus: integer({ optional: true, description: "The HTTP status of the last response." }),
  lastError: text({ optional: true, description: "Why the last attempt failed." }),
  durationMs: integer({ optional: true, description: "How long the last attempt took." }),
  /** Deliveries of an endpoint with the same text are sent in order: the resource and the id of the row. */
  rowKey: text({ internal: true }),
  /** The position of the event. */
  eventTransaction: integer({ internal: true }),
  eventSequence: integer({ internal: true }),
  /** The data of an event that is not recorded: of a test. */
  payload: text({ internal: true, optional: true }),
};

/** The type of the built-in resource for deliveries. */
export type WebhookDeliveries = Resource<"webhookDelivery", typeof deliveryFields, undefined>;

/** Read-only for callers, except that they can retry one. */
export const webhookDeliveries: WebhookDeliveries = resource("webhookDelivery", {
  fields: deliveryFields,
  filter: ["endpointId", "status", "eventType"],
  version: "v1",
  scopes: webhookScopes,
  operations: ["list", "get"],
  events: false,
  actions: {
    retries: {
      verb: "retry",
      input: {},
      async run({ current, ...context }) {
        if (current.status === "pending")
          throw new Problem("conflict", "The delivery is pending; it is attempted without a retry.");
        const { caller, now, rows } = context;
        const endpoint = { tenantId: caller.tenantId, endpointId: current.endpointId };
        const [enabled] = await ownContext(context).query(selectIfEnabled, endpoint);
        const [queue] = await ownContext(context).query(wakeQueue, { ...endpoint, dueAt: now });
        if (!enabled || !queue)
          throw new Problem("conflict", "The endpoint no longer exists, or is disabled.");
        return rows.update(webhookDeliveries, current.id, { status: "pending", nextAttemptAt: now });
      },
    },
  },
});

/** The attempts of a delivery. `number` begins with 1; `response` is the beginning of the body. */
export const attemptsTable = ownTable(
  "webhook_attempts",
  {
    tenant_no: "tenant",
    delivery_id: "text",
    number: "integer",
    created_at: "timestamp",
    status: "integer?",
    duration_ms: "integer",
    error: "text?",
    response: "text?",
  },
  { primaryKey: ["tenant_no", "delivery_id", "number"] },
);

const index = (name: string, ...columns: readonly string[]): OwnIndex => ({
  table: "webhook_deliveries",
  name: `portico_webhook_deliveries_${name}`,
  columns: columns.map((column) => ({ name: column, isNullable: false })),
  isUnique: false,
});

/** Of pending deliveries only, so that it stays small, and an outcome takes a row out of it. */
const pendingIndex = (name: string, ...columns: readonly string[]): OwnIndex => ({
  ...index(`pending_${name}`, ...columns),
  where: "status = 'pending'",
});

export const deliveryIndexes: readonly OwnIndex[] = [
  pendingIndex("due", "tenant_no", "endpoint_id", "next_attempt_at", "id"),
  // The next delivery of a row.
  pendingIndex(
    "row",
    ...["tenant_no", "endpoint_id", "row_key", "event_transaction", "event_sequence", "id"],
  ),
  // Events that are needed for pending deliveries.
  pendingIndex("event", "event_sequence"),
  // What is old.
  index("created_at", "created_at"),
];

const deleteAttempts = defineQuery(
  [attemptsTable],
  (db, { tenantId, deliveryId }: ParametersOf<{ tenantId: string; deliveryId: string }>) =>
    db.deleteFrom("webhook_attempts").where("tenant_no", "=", tenantId).where("delivery_id", "=", deliveryId),
);

/** Deletes deliveries after a number of days, except pending ones, with their attempts. */
export function deliveryRetention(store: Store, days: number): RetentionPolicy {
  return {
    table: "webhook_deliveries",
    retentionMs: days * dayMs,
    selectExpired: (column, before) => sql`select ${column} from webhook_deliveries
      where status in ('succeeded', 'failed') and created_at < ${before}`,
    encode: (time) => new Date(time).toISOString(),
    returning: ["tenant_no", "id"],
    async onDeleted(session, rows: readonly { readonly tenant_no: number; readonly id: string }[]) {
      const tenantIdOf = await store.tenants.findIds(
        store.database,
        rows.map(({ tenant_no }) => tenant_no),
      );
      for (const { tenant_no, id: deliveryId } of rows)
        await deleteAttempts(store).run(session, { tenantId: tenantIdOf(tenant_no), deliveryId });
    },
  };
}
