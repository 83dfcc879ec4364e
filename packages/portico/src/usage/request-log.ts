// The request log: a row for each request with a key, which the tenant can read. The rate of rows is bounded. Bodies,
// paths, queries and credentials are not logged. `jobs/write-behind.ts` writes the rows.

import { sql } from "kysely";
import type { Caller } from "../declare/caller.ts";
import { halvesOf, type WriteBatch, type WriteBuffer } from "../jobs/write-behind.ts";
import { newId } from "../lib/id.ts";
import type { Report } from "../lib/report.ts";
import type { ResourceModel } from "../model/model.ts";
import { type ColumnRow, compileInsertRows, type WriteRows } from "../store/compile/many-rows.ts";
import { columnsOf } from "../store/schema/resource-table.ts";
import type { Store } from "../store/store.ts";

/** A finished request. It is logged only if the caller used a key. */
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
 * Bounds of the log: rows in a burst, and rows a second after that. Requests beyond them are only counted, so that a
 * server at its limit does not spend its time on the log.
 */
const burstSize = 1_000;
const maxPerSecond = 250;
/** Rows in memory while the database does not accept them. */
const maxBuffered = 5_000;
const rowsPerBatch = 250;
/** How often omitted requests are reported. */
const reportIntervalMs = 60_000;

export class RequestLog implements WriteBuffer {
  readonly #insert: WriteRows;
  readonly #idPrefix: string;
  readonly #report: Report;
  #buffer: ColumnRow[] = [];
  #allowance = burstSize;
  #allowanceAt = 0;
  #dropped = 0;
  #reportedAt = 0;

  /** @param report called with the number of omitted requests */
  constructor(store: Store, resource: ResourceModel, report: Report) {
    // Rows are written again if the connection was lost during the commit.
    this.#insert = compileInsertRows(store, resource.table, columnsOf(resource), sql`on conflict do nothing`);
    this.#idPrefix = resource.idPrefix;
    this.#report = report;
  }

  /** @param at when the responses were sent, in milliseconds since 1970 */
  add(requests: readonly LoggedRequest[], at: number): void {
    const seconds = Math.max(at - this.#allowanceAt, 0) / 1000;
    this.#allowance = Math.min(this.#allowance + seconds * maxPerSecond, burstSize);
    this.#allowanceAt = at;
    const timestamp = new Date(at).toISOString();
    for (const request of requests) this.#add(request, timestamp);
    if (this.#dropped > 0 && at >= this.#reportedAt + reportIntervalMs) this.#reportDropped(at);
  }

  get isEmpty(): boolean {
    return this.#buffer.length === 0;
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
      tenant_no: caller.tenantId,
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
    this.#report(`the request log omits requests: it records ${maxPerSecond} a second`, {
      omitted: this.#dropped,
    });
    this.#dropped = 0;
    this.#reportedAt = at;
  }
}
