// The workers of one process, each for a queue that it has leased.

/** Does the due jobs of a queue. */
export interface Worker {
  /** Works until nothing is due, or others need the turn. @throws Error if the lease is lost */
  readonly run: () => Promise<void>;
  /** Looks for new jobs soon. */
  readonly wake: () => void;
}

export class QueueWorkers {
  readonly #done = new Map<Worker, Promise<void>>();

  /** How many are running. */
  get size(): number {
    return this.#done.size;
  }

  /** @param onFailure called if it fails; its queue is due again at the end of the lease */
  start(worker: Worker, onFailure: (error: unknown) => void): void {
    const done = worker
      .run()
      .catch(onFailure)
      .finally(() => this.#done.delete(worker));
    this.#done.set(worker, done);
  }

  /** Looks for new jobs in the queues that are being worked on. */
  wake(): void {
    for (const worker of this.#done.keys()) worker.wake();
  }

  /** Waits for all of them. */
  async end(): Promise<void> {
    await Promise.all(this.#done.values());
  }
}
