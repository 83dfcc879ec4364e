// The operations on webhook endpoints that answer with something else than an endpoint, as data.

import type { JsonSchema } from "../model/json-schema.ts";
import { pathParameter } from "../model/operation-parameters.ts";
import { commonErrors, type ModuleOperation } from "../model/operations.ts";
import { webhookScopes } from "./delivery.ts";

const common = {
  kind: "module",
  method: "POST",
  prefixes: ["/v1"],
  scope: webhookScopes.write,
  parameters: [pathParameter("id")],
  errors: [...commonErrors, "not_found", "conflict", "payload_too_large", "unsupported_media_type"],
} as const;

const nullable = (type: string): JsonSchema => ({ type: [type, "null"] });
const time: JsonSchema = { type: "string", format: "date-time" };

/** A delivery as `GET /v1/webhook-deliveries/{id}` shows it. */
const delivery: JsonSchema = {
  type: "object",
  properties: {
    id: { type: "string" },
    endpointId: { type: "string" },
    eventId: { type: "string" },
    eventType: { type: "string" },
    status: { type: "string", enum: ["pending", "succeeded", "failed"] },
    attempts: { type: "integer" },
    nextAttemptAt: { ...nullable("string"), format: "date-time" },
    lastStatus: nullable("integer"),
    lastError: nullable("string"),
    durationMs: nullable("integer"),
    createdAt: time,
    updatedAt: time,
  },
  required: ["id", "endpointId", "eventId", "eventType", "status", "attempts", "createdAt", "updatedAt"],
};

/** Sends an event of the type `webhook.test`, and waits for the outcome of the first attempt. */
export const testEndpoint = Object.freeze<ModuleOperation>({
  ...common,
  id: "testWebhookEndpoint",
  path: "/webhook-endpoints/{id}/tests",
  input: undefined,
  output: delivery,
});

/** Delivers past events again. */
export const replayEvents = Object.freeze<ModuleOperation>({
  ...common,
  id: "replayWebhookEvents",
  path: "/webhook-endpoints/{id}/replays",
  input: {
    type: "object",
    properties: {
      from: time,
      to: { ...time, description: "By default now." },
      eventTypes: {
        type: "array",
        items: { type: "string" },
        description: "By default those of the endpoint.",
      },
    },
    required: ["from"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: { count: { type: "integer", description: "The number of deliveries." } },
    required: ["count"],
  },
});
