// The operations on webhook endpoints that answer with something else than an endpoint, as data.

import { type JsonSchema, rowSchema } from "../model/json-schema.ts";
import type { Model } from "../model/model.ts";
import { bodyErrors, commonErrors, repeatableErrors } from "../model/operation-errors.ts";
import { pathParameter } from "../model/operation-parameters.ts";
import type { ModuleOperation } from "../model/operations.ts";
import { webhookDeliveries, webhookScopes } from "./delivery.ts";

const common = {
  kind: "module",
  method: "POST",
  prefixes: ["/v1"],
  scope: webhookScopes.write,
  parameters: [pathParameter("id")],
  errors: [...commonErrors, ...bodyErrors, "not_found", "conflict"],
} as const;

const time: JsonSchema = { type: "string", format: "date-time" };

/** Sends an event of the type `webhook.test`, and waits for the outcome of the first attempt. */
export const testEndpoint = ({ resource }: Pick<Model, "resource">) =>
  Object.freeze<ModuleOperation>({
    ...common,
    id: "testWebhookEndpoint",
    path: "/webhook-endpoints/{id}/tests",
    summary: "Test a webhook endpoint",
    description: "Sends an event of the type `webhook.test`, and waits for the outcome of the first attempt.",
    status: 201,
    input: undefined,
    output: { title: "WebhookDelivery", ...rowSchema(resource.get(webhookDeliveries.name)!) },
  });

/** Delivers past events again. */
export const replayEvents = Object.freeze<ModuleOperation>({
  ...common,
  id: "replayWebhookEvents",
  path: "/webhook-endpoints/{id}/replays",
  summary: "Replay events",
  description: "Delivers past events again.",
  status: 202,
  input: {
    title: "WebhookReplayCreate",
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
  errors: [...common.errors, ...repeatableErrors],
  output: {
    title: "WebhookReplay",
    type: "object",
    properties: { count: { type: "integer", description: "The number of deliveries." } },
    required: ["count"],
  },
});
