// The request log: each request of a key is a row that the tenant can read, within a bound for each second. Bodies,
// paths, queries and credentials are not in it. `jobs/write-behind.ts` writes.

import { sql } from "kysely";
import type { Caller } from "../declare/caller.ts";
import { id, integer, number, text } from "../declare/field.ts";
import { range, resource } from "../declare/resource.ts";
import { dayMs, type RetentionPolicy } from "../jobs/purge.ts";
import { halvesOf, type WriteBatch, type WriteBuffer } from "../jobs/write-behind.ts";
import { newId } from "../lib/id.ts";
import type { Report } from "../lib/report.ts";
import type { ResourceModel } from "../model/model.ts";
import { type ColumnRow, compileInsertRows, type WriteRows } from "../store/compile/many-rows.ts";
import type { Dialect } from "../store/dialect.ts";
import { columnsOf } from "../store/schema/ddl.ts";
import type { Store } from "../store/store.ts";

/** Its rows come from here alone, so no caller writes them. */
export const requestLogs = resource("requestLog", {
  fields: {
    method: text({ max: 20 }),
    route: text({ max: 255, description: "the pattern of the path: /posts/:id" }),
    status: integer(),
    durationMs: number(),
    // Not a reference: a row stays as it was when it was written.
    keyId: id(),
    requestId: text({ max: 128 }),
  },
  filter: ["keyId", "status", range("createdAt")],
  scopes: { read: "keys:read", write: "keys:manage" },
  version: "v1",
  operations: ["list", "get"],
});

/** A request that was answered; without a caller who showed a key it is not kept. */
export interface LoggedRequest {
  readonly requestId: string;
  readonly method: string;
  /** The pattern of its path, `/posts/:id`. */
  readonly route: string | undefined;
  readonly status: number;
  readonly durationMs: number;
  readonly caller: Caller | undefined;
}

/**
 * Rows that may come at once, and in each second where more come for long; the others are only counted. Of a server
 * that is used as usual everything is kept, and one at its limit does not spend its time on its log.
 */
const burstSize = 1_000;
const maxPerSecond = 250;
/** Rows kept in memory while the database does not take them. */
const maxBuffered = 5_000;
const rowsPerBatch = 250;
/** What was left out is told so often. */
const reportIntervalMs = 60_000;

/** Rows that are older than so many days. */
export function requestLogRetention({ name }: Dialect, days: number): RetentionPolicy {
  // Rows lie in the order of their tenants; SQLite would begin with all rows if it were not told.
  const joined = sql.raw(name === "sqlite" ? "cross join" : "join");
  return {
    table: "request_logs",
    retentionMs: days * dayMs,
    selectExpired: (column, before) => sql`select r.${column} from tenants as t ${joined} request_logs as r
      on r.tenant_id = t.id where r.created_at < ${before}`,
    encode: (timestamp) => new Date(timestamp).toISOString(),
  };
}

export class RequestLog implements WriteBuffer {
  readonly #insert: WriteRows;
  readonly #idPrefix: string;
  readonly #report: Report;
  #buffer: ColumnRow[] = [];
  #allowance = burstSize;
  #allowanceAt = 0;
  #dropped = 0;
  #reportedAt = 0;

  /** @param report is told how many requests were left out */
  constructor({ dialect }: Store, resource: ResourceModel, report: Report) {
    // Rows that a lost connection leaves in doubt are written once more.
    this.#insert = compileInsertRows(
      dialect,
      resource.table,
      columnsOf(resource),
      sql`on conflict do nothing`,
    );
    this.#idPrefix = resource.idPrefix;
    this.#report = report;
  }

  /** @param at when they were answered, in milliseconds since 1970 */
  add(requests: readonly LoggedRequest[], at: number): void {
    const seconds = Math.max(at - this.#allowanceAt, 0) / 1000;
    this.#allowance = Math.min(this.#allowance + seconds * maxPerSecond, burstSize);
    this.#allowanceAt = at;
    const timestamp = new Date(at).toISOString();
    for (const request of requests) this.#add(request, timestamp);
    if (this.#dropped > 0 && at >= this.#reportedAt + reportIntervalMs) this.#reportDropped(at);
  }

  drain(): readonly WriteBatch[] {
    const batches: WriteBatch[] = [];
    while (this.#buffer.length > 0) batches.push(this.#batch(this.#buffer.splice(0, rowsPerBatch)));
    return batches;
  }

  #add(request: LoggedRequest, timestamp: string): void {
    const { caller, route } = request;
    if (caller?.keyId === undefined || route === undefined) return;
    if (this.#allowance < 1 || this.#buffer.length >= maxBuffered) {
      this.#dropped += 1;
      return;
    }
    this.#allowance -= 1;
    this.#buffer.push({
      tenant_id: caller.tenantId,
      id: newId(this.#idPrefix),
      method: request.method,
      route,
      status: request.status,
      duration_ms: request.durationMs,
      key_id: caller.keyId,
      request_id: request.requestId,
      created_at: timestamp,
      updated_at: timestamp,
    });
  }

  #batch(rows: readonly ColumnRow[]): WriteBatch {
    return {
      write: (session) => this.#insert(session, rows),
      restore: () => {
        this.#buffer.push(...rows);
      },
      halves: () => halvesOf(rows).map((half) => this.#batch(half)),
    };
  }

  #reportDropped(at: number): void {
    this.#report(`the request log leaves requests out: it keeps ${maxPerSecond} a second`, {
      leftOut: this.#dropped,
    });
    this.#dropped = 0;
    this.#reportedAt = at;
  }
}
