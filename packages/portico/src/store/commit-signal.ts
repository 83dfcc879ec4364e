// Tells this process that one of its transactions may have committed events, so that it need not wait for a poll.

/** Longer than a transaction may take: what was recorded earlier has been committed or rolled back. */
const maxTransactionMs = 15_000;

export class CommitSignal {
  readonly #listeners = new Set<() => void>();
  #recordedAt = Number.NEGATIVE_INFINITY;

  /** Calls `listener` after commits. */
  listen(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** A transaction that has not been committed yet has recorded an event. */
  recorded(): void {
    this.#recordedAt = performance.now();
  }

  /** A transaction was committed. Whether it is one that recorded an event is not known, nor worth knowing. */
  committed(): void {
    if (performance.now() - this.#recordedAt > maxTransactionMs) return;
    for (const listener of this.#listeners) listener();
  }
}
