// What a worker writes about the queue of an endpoint, while it holds the lease.

import { QueueLease } from "../jobs/queue-lease.ts";
import type { Store } from "../store/store.ts";
import type { Attempt } from "./attempt.ts";
import { abandonPending, type DueDelivery, selectNextDue } from "./delivery-queries.ts";
import { writeOutcomes } from "./delivery-writes.ts";
import { selectIfEnabled } from "./endpoint-queries.ts";
import {
  deleteQueue,
  type EndpointQueues,
  forgetFailures,
  type LeasedQueue,
  type OfEndpoint,
  recordFailure,
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
  readonly #lease: QueueLease;

  constructor(store: Store, queues: EndpointQueues, queue: LeasedQueue) {
    this.#store = store;
    this.#lease = new QueueLease(store, queues, queue);
  }

  /** Whether it is time to extend the lease. */
  get isEnding(): boolean {
    return this.#lease.isEnding;
  }

  /** Whether other endpoints that wait for a worker are next. */
  get isTurnOver(): boolean {
    return this.#lease.isTurnOver;
  }

  /**
   * Writes outcomes, and extends the lease. Tries again until the lease ends.
   * @returns since when the endpoint fails; null if it does not
   * @throws Error if the lease is lost: another process attempts these deliveries again
   */
  async write(endpoint: OfEndpoint, finished: readonly Finished[]): Promise<string | null> {
    return this.#lease.record(async (session) => {
      await writeOutcomes(this.#store, session, endpoint, finished);
      const attempts = finished.flatMap(({ attempt }) => attempt ?? []);
      if (attempts.some(({ error }) => error === null))
        await forgetFailures(this.#store).run(session, endpoint);
      else if (attempts.length > 0) {
        const failing = { ...endpoint, at: attempts[0]!.at };
        return (await recordFailure(this.#store).first(session, failing))?.failingSince ?? null;
      }
      return null;
    });
  }

  /** Ends the lease, unless something is due. @param isForced ends it in any case @returns whether it has ended */
  end(endpoint: OfEndpoint, isForced: boolean): Promise<boolean> {
    return this.#lease.end(
      async (session) => (await selectNextDue(this.#store).first(session, endpoint))?.dueAt ?? null,
      isForced,
    );
  }

  /**
   * Fails what is pending for an endpoint that was disabled or deleted, some at a time.
   * @returns whether the lease has ended; not if the endpoint was enabled again meanwhile
   */
  async abandon(endpoint: OfEndpoint, exists: boolean): Promise<boolean> {
    const error = exists ? "The endpoint was disabled." : "The endpoint was deleted.";
    for (let count = 1; count > 0; ) {
      const now = new Date().toISOString();
      const abandoned = await this.#lease.inTransaction(async (session) => {
        // The queue is locked, which enabling waits for: what is added afterwards is not failed.
        if (await selectIfEnabled(this.#store).first(session, endpoint)) return "enabled";
        return abandonPending(this.#store).all(session, { ...endpoint, now, error });
      });
      if (abandoned === "enabled") return false;
      if (!abandoned) return true;
      count = abandoned.length;
    }
    if (exists) return this.end(endpoint, false);
    await this.#lease.inTransaction((session) => deleteQueue(this.#store).run(session, endpoint));
    return true;
  }
}
