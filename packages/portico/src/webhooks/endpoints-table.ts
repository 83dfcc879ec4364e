// The fields of webhook endpoints, which also type the queries on their table.

import { choice, integer, json, list, text } from "../declare/field.ts";

export const endpointFields = {
  url: text({ min: 1, max: 2048, description: "Where events are sent, by POST." }),
  description: text({ max: 500, optional: true }),
  eventTypes: list(text({ min: 1, max: 200 }), {
    min: 1,
    max: 100,
    uniqueItems: true,
    description: "`post.created`, `post.*` for all of a resource, `*` for all.",
  }),
  status: choice(["enabled", "disabled"], { default: "enabled", keepOnReplace: true }),
  disabledReason: choice(["gone", "failing", "credential_revoked", "manual"], {
    readOnly: true,
    optional: true,
    description: "Why it is disabled; null while it is enabled.",
  }),
  /** `StoredSecret[]` */
  secrets: json({ internal: true }),
  /** Who sees the events that it gets: `Principal`. */
  principal: json({ internal: true }),
  /** The position after which it gets events. */
  startTransaction: integer({ internal: true }),
  startSequence: integer({ internal: true }),
  /** The snapshot of PostgreSQL at that time: `Start`. */
  startSnapshot: text({ internal: true, optional: true }),
};

/** The table of endpoints, for queries. */
export const endpointsTable = { name: "webhookEndpoint", fields: endpointFields } as const;
