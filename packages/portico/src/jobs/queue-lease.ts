// The lease on a queue whose jobs one process works on. Each transaction that writes about the queue first extends the
// lease, which locks the queue and fails if another process has taken it over.

import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable } from "../errors.ts";
import type { Transaction } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import type { JobOutcome, Leased, LeaseQueue } from "./lease-queue.ts";

/** When a queue is due in which nothing is. */
export const never = "9999-12-31T00:00:00.000Z";

/**
 * The duration of a lease: how long the jobs of a queue wait after a crash. It is extended while jobs are worked on, so it
 * can be shorter than their work.
 */
export const leaseMs = 6_000;
/** The lease is extended when this much of it is left. */
const extendBeforeMs = 4_000;
/** How long a queue is worked on while others wait for a worker. */
const turnMs = 2_000;
const recordRetryMs = 500;

export class QueueLease {
  readonly #store: Store;
  readonly #queues: LeaseQueue<unknown, JobOutcome>;
  readonly #queue: Leased<unknown>;
  readonly #startedAt = Date.now();
  #until: number;

  constructor(store: Store, queues: LeaseQueue<unknown, JobOutcome>, queue: Leased<unknown>) {
    this.#store = store;
    this.#queues = queues;
    this.#queue = queue;
    this.#until = Date.parse(queue.lease.until);
  }

  /** Whether it is time to extend the lease. */
  get isEnding(): boolean {
    return this.#remainingMs <= extendBeforeMs;
  }

  /** Whether other queues that wait for a worker are next. */
  get isTurnOver(): boolean {
    return Date.now() - this.#startedAt > turnMs;
  }

  get #remainingMs(): number {
    return this.#until - Date.now();
  }

  /**
   * Extends the lease, in a transaction that records the outcomes of jobs. Tries again until the lease ends: a job whose
   * outcome is not recorded is done again.
   * @throws Error if the lease is lost
   */
  async record<T>(work: (session: Transaction) => Promise<T>): Promise<T> {
    for (;;)
      try {
        const recorded = await this.inTransaction(async (session) => ({ result: await work(session) }));
        if (recorded) return recorded.result;
        throw new Error("the lease of the queue is lost");
      } catch (error) {
        if (!isUnavailable(error) || this.#remainingMs <= 0) throw error;
        await sleep(recordRetryMs);
      }
  }

  /** Extends the lease, in a transaction with some work. @returns undefined if the lease is lost */
  inTransaction<T>(work: (session: Transaction) => Promise<T>): Promise<T | undefined> {
    const until = Date.now() + leaseMs;
    return this.#store.transaction(async (session) => {
      if (!(await this.#queues.extend(this.#queue, new Date(until).toISOString(), session))) return undefined;
      const result = await work(session);
      this.#until = until;
      return result;
    });
  }

  /**
   * Ends the lease, unless something is due.
   * @param nextDue reads when the next job of the queue is due; null if none is
   * @param isForced ends it in any case; what is due then waits for a turn behind other queues
   * @returns whether it has ended
   */
  async end(nextDue: (session: Transaction) => Promise<string | null>, isForced: boolean): Promise<boolean> {
    const hasEnded = await this.inTransaction(async (session) => {
      // The queue is locked, so nothing can be added after this.
      const dueAt = (await nextDue(session)) ?? never;
      const at = new Date().toISOString();
      if (!isForced && dueAt <= at) return false;
      await this.#queues.complete(this.#queue, { at, nextAttemptAt: dueAt < at ? at : dueAt }, session);
      return true;
    });
    return hasEnded ?? true;
  }
}
