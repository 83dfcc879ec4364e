// The requests that webhook endpoints get: one for each type of event (Standard Webhooks).

import { eventType } from "../events/event-type.ts";
import { exampleId } from "../lib/id.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import type { Components } from "./components.ts";
import type { ParameterObject, PathItem, Reference } from "./description.ts";
import { exampleRow } from "./examples.ts";
import { singularWords, withArticle } from "./names.ts";
import { rowReference } from "./schemas.ts";

export const webhooksTag = {
  name: "Webhooks",
  description:
    "The requests that the server sends to webhook endpoints. Any response with 2xx accepts an event.",
};

const time = "2026-11-21T09:30:00.000Z";

const actions: Readonly<Record<string, string>> = {
  created: "was created",
  updated: "was changed, by an update, an action or a restoration",
  deleted: "was deleted; `data` is the row as it was before",
};

const headers: readonly ParameterObject[] = [
  {
    name: "webhook-id",
    description: "The id of the event, which is the same in each attempt, to detect duplicates.",
    example: exampleId("event"),
  },
  {
    name: "webhook-timestamp",
    description: "The time of the attempt, in seconds since 1970.",
    example: "1795253400",
  },
  {
    name: "webhook-signature",
    description:
      "Signatures of `<webhook-id>.<webhook-timestamp>.<body>`, separated by spaces: `v1,` and HMAC-SHA-256 by the secret of the endpoint.",
    example: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  },
].map((each) => ({ ...each, in: "header", required: true, schema: { type: "string" } }));

/** The events of all resources that record any, by type. */
export function webhooksOf(
  { resources }: Pick<Model, "resources">,
  components: Components,
): Readonly<Record<string, PathItem>> {
  const parameters = headers.map((each) => components.add("parameters", componentName(each), each));
  const recorded = resources.filter(({ isExposed, recordsEvents }) => isExposed && recordsEvents);
  return Object.fromEntries(
    recorded.flatMap((resource) =>
      Object.keys(actions).map((action) => [
        eventType(resource.name, action),
        webhook(resource, action, parameters, components),
      ]),
    ),
  );
}

/** `webhook-id` -> `WebhookId` */
function componentName({ name }: ParameterObject): string {
  return name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function webhook(
  resource: ResourceModel,
  action: string,
  parameters: readonly Reference[],
  components: Components,
): PathItem {
  const type = eventType(resource.name, action);
  const row = exampleRow(resource);
  const data = resource.files.length > 0 ? { type: "object" } : { ...rowReference(resource, components) };
  return {
    post: {
      operationId: `${resource.name}${action[0]!.toUpperCase()}${action.slice(1)}Webhook`,
      tags: [webhooksTag.name],
      summary: type,
      description: `${withArticle(singularWords(resource)).replace(/^a/, "A")} ${actions[action]}.`,
      parameters,
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              type: "object",
              properties: {
                id: { type: "string", description: "The id of the event." },
                type: { type: "string", const: type },
                timestamp: { type: "string", format: "date-time", description: "When it happened." },
                data,
              },
              required: ["id", "type", "timestamp", "data"],
            },
            ...(row && { example: { id: exampleId("event"), type, timestamp: time, data: row } }),
          },
        },
      },
      responses: {
        200: { description: "The event was received. Every other response with 2xx means the same." },
        410: { description: "No more events are wanted: the endpoint is disabled." },
      },
      security: [],
    },
  };
}
