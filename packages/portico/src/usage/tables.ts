// The counts of key usage and the request log, as tables, and how long their rows are kept.

import { sql } from "kysely";
import { id, integer, number, text } from "../declare/field.ts";
import { range } from "../declare/filter.ts";
import { resource } from "../declare/resource.ts";
import { dayMs, type RetentionPolicy } from "../jobs/purge.ts";
import type { Dialect } from "../store/dialect.ts";
import { ownTable } from "../store/own-tables/table.ts";

/** `minute` is in minutes since 1970; `status_class` is the first digit of the status. */
export const keyUsageTable = ownTable(
  "key_usage",
  {
    tenant_no: "tenant",
    key_id: "text",
    minute: "integer",
    route: "text",
    status_class: "integer",
    count: "integer",
  },
  {
    primaryKey: ["tenant_no", "key_id", "minute", "route", "status_class"],
    indexes: [{ columns: ["minute"] }],
  },
);

/** Deletes counts after a number of days. */
export function keyUsageRetention(days: number): RetentionPolicy {
  return {
    table: keyUsageTable.name,
    retentionMs: days * dayMs,
    selectExpired: (idColumn, before) => sql`select ${idColumn} from key_usage where minute < ${before}`,
    encode: minuteOf,
  };
}

/** Converts milliseconds since 1970 to whole minutes. */
export function minuteOf(at: number): number {
  return Math.floor(at / 60_000);
}

/** Read-only for callers. */
export const requestLogs = resource("requestLog", {
  fields: {
    method: text({ max: 20 }),
    route: text({ max: 255, description: "the pattern of the path: /posts/:id" }),
    status: integer(),
    durationMs: number(),
    // Not a reference, so that rows outlive the key.
    keyId: id(),
    requestId: text({ max: 128 }),
  },
  filter: ["keyId", "status", range("createdAt")],
  scopes: { read: "keys:read", write: "keys:manage" },
  version: "v1",
  operations: ["list", "get"],
  // The server inserts the rows itself.
  events: false,
});

/** Deletes rows after a number of days. */
export function requestLogRetention({ name }: Dialect, days: number): RetentionPolicy {
  // The index starts with the tenant. A cross join makes SQLite read the tenants first.
  const joined = sql.raw(name === "sqlite" ? "cross join" : "join");
  return {
    table: "request_logs",
    retentionMs: days * dayMs,
    selectExpired: (column, before) => sql`select r.${column} from tenants as t ${joined} request_logs as r
      on r.tenant_no = t.no where r.created_at < ${before}`,
    encode: (timestamp) => new Date(timestamp).toISOString(),
  };
}
