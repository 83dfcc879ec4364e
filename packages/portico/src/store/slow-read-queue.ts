// The queue of reads that may take long. They share a few threads (SQLite) or connections (PostgreSQL); tenants take
// turns, and no tenant can use all slots at once.

import { LoggedProblem, Problem } from "../errors.ts";
import { FairQueue, type RefusalReason } from "../lib/fair-queue.ts";

const mebibyte = 1024 * 1024;
const maxWaiting = { count: 1_000, size: 64 * mebibyte };
const maxWaitingPerTenant = { count: 250, size: 16 * mebibyte };
const maxWaitMs = 10_000;

/** Counts reads refused with `unavailable`. Callers can cause many of these, so they are not logged one by one. */
export type CountRefused = (what: "slowReadsRefused" | "slowReadsTimedOut") => void;

export interface SlowReadQueueOptions {
  readonly slots: number;
  readonly slotsPerTenant: number;
  /** After this time the caller gets an error; the slot is free once the read has ended. */
  readonly timeoutMs: number;
  readonly countRefused: CountRefused;
}

export class SlowReadQueue {
  readonly #queue: FairQueue;
  readonly #countRefused: CountRefused;

  constructor({ slots, slotsPerTenant, timeoutMs, countRefused }: SlowReadQueueOptions) {
    this.#countRefused = countRefused;
    this.#queue = new FairQueue({
      slots,
      slotsPerGroup: slotsPerTenant,
      maxWaiting,
      maxWaitingPerGroup: maxWaitingPerTenant,
      maxWaitMs,
      timeoutMs,
      refusal: (reason) => this.#problem(reason),
    });
  }

  /**
   * Runs a read as soon as a slot is free.
   *
   * @param bytes size of the values that the read holds while it waits
   * @throws Problem `rate_limited` where too many reads of the tenant are waiting; `unavailable` where too many are
   * waiting in total, or after a timeout
   * @example
   * await queue.run("tenant_01k...", bytesOf(values), () => thread.query(sql, values));
   */
  run<T>(tenantId: string, bytes: number, read: () => Promise<T>): Promise<T> {
    return this.#queue.run(read, tenantId, bytes);
  }

  /** The error for a read that took too long; counts it. */
  timedOut(): Problem {
    return this.#problem("timedOut");
  }

  #problem(reason: RefusalReason): Problem {
    if (reason === "groupFull") {
      const message = "Too many of your slow requests are waiting. Send fewer at once.";
      return new Problem("rate_limited", message, [], { "Retry-After": "1" });
    }
    this.#countRefused(reason === "timedOut" ? "slowReadsTimedOut" : "slowReadsRefused");
    return new LoggedProblem("unavailable", messages[reason]);
  }
}

const messages = {
  full: "Too many slow requests are waiting. Try again.",
  waitTimedOut: "The request waited too long for others. Try again.",
  timedOut: "The request took too long. Ask for less, or with fewer conditions.",
} as const;

/** Approximate size of the values of a statement. */
export function bytesOf(values: readonly unknown[]): number {
  let bytes = 0;
  for (const value of values)
    if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length;
  return bytes;
}
