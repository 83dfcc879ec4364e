// What a worker writes about the queue of an endpoint. Each transaction first extends the lease, which locks the queue
// and fails if another process has taken it over.

import type { Transaction } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import type { Attempt } from "./attempt.ts";
import { abandonPending, type DueDelivery, selectNextDue } from "./delivery-queries.ts";
import { writeOutcomes } from "./delivery-writes.ts";
import {
  deleteQueue,
  type EndpointQueues,
  type LeasedQueue,
  leaseMs,
  never,
  type OfEndpoint,
  recordFailure,
  recordSuccess,
} from "./endpoint-queue.ts";

/** A delivery whose attempt has an outcome. */
export interface Finished {
  readonly delivery: DueDelivery;
  readonly at: string;
  readonly status: "pending" | "succeeded" | "failed";
  readonly nextAttemptAt: string | null;
  readonly error: string | null;
  /** Undefined if nothing was sent. */
  readonly attempt: Attempt | undefined;
}

export class QueueRecord {
  readonly #store: Store;
  readonly #queues: EndpointQueues;
  readonly #queue: LeasedQueue;
  #until: number;

  constructor(store: Store, queues: EndpointQueues, queue: LeasedQueue) {
    this.#store = store;
    this.#queues = queues;
    this.#queue = queue;
    this.#until = Date.parse(queue.lease.until);
  }

  /** How long the lease lasts. */
  get remainingMs(): number {
    return this.#until - Date.now();
  }

  /**
   * Writes outcomes, and extends the lease.
   * @returns since when the endpoint fails; null if it does not
   * @throws Error if the lease is lost: another process attempts these deliveries again
   */
  async write(endpoint: OfEndpoint, finished: readonly Finished[]): Promise<string | null> {
    const failingSince = await this.#inTransaction(async (session) => {
      await writeOutcomes(this.#store, session, endpoint, finished);
      const attempts = finished.flatMap(({ attempt }) => attempt ?? []);
      if (attempts.some(({ error }) => error === null))
        await recordSuccess(this.#store).run(session, endpoint);
      else if (attempts.length > 0) {
        const failing = { ...endpoint, at: attempts[0]!.at };
        return (await recordFailure(this.#store).first(session, failing))?.failingSince ?? null;
      }
      return null;
    });
    if (failingSince === undefined) throw new Error("the lease of the queue is lost");
    return failingSince;
  }

  /**
   * Ends the lease, unless something is due.
   * @param isForced ends it in any case; what is due then waits for a turn behind other endpoints
   * @returns whether it has ended
   */
  async end(endpoint: OfEndpoint, isForced: boolean): Promise<boolean> {
    const hasEnded = await this.#inTransaction(async (session) => {
      // The queue is locked, so nothing can be added after this.
      const dueAt = (await selectNextDue(this.#store).first(session, endpoint))?.dueAt ?? never;
      const at = new Date().toISOString();
      if (!isForced && dueAt <= at) return false;
      await this.#queues.complete(this.#queue, { at, nextAttemptAt: dueAt < at ? at : dueAt }, session);
      return true;
    });
    return hasEnded ?? true;
  }

  /** Fails what is pending for an endpoint that was disabled or deleted, and ends the lease. */
  async abandon(endpoint: OfEndpoint, exists: boolean): Promise<void> {
    const error = exists ? "The endpoint was disabled." : "The endpoint was deleted.";
    for (let count = 1; count > 0; ) {
      const now = new Date().toISOString();
      const abandoned = await this.#inTransaction((session) =>
        abandonPending(this.#store).all(session, { ...endpoint, now, error }),
      );
      if (!abandoned) return;
      count = abandoned.length;
    }
    if (exists) await this.end(endpoint, false);
    else await this.#inTransaction((session) => deleteQueue(this.#store).run(session, endpoint));
  }

  /** @returns undefined if the lease is lost */
  #inTransaction<T>(work: (session: Transaction) => Promise<T>): Promise<T | undefined> {
    const until = Date.now() + leaseMs;
    return this.#store.transaction(async (session) => {
      if (!(await this.#queues.extend(this.#queue, new Date(until).toISOString(), session))) return undefined;
      const result = await work(session);
      this.#until = until;
      return result;
    });
  }
}
