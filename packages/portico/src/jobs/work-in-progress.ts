// The jobs of a leased queue that a worker has started, until their outcomes are recorded.

/** How often to look for new jobs while others are in progress. */
export const pollMs = 250;

export class WorkInProgress<Outcome> {
  readonly #started = new Set<string>();
  #outcomes: Outcome[] = [];
  #wake = (): void => {};

  /** How many jobs have been started and are not recorded. */
  get size(): number {
    return this.#started.size;
  }

  /** How many of them have an outcome. */
  get outcomes(): number {
    return this.#outcomes.length;
  }

  has(id: string): boolean {
    return this.#started.has(id);
  }

  start(id: string): void {
    this.#started.add(id);
  }

  /** Adds the outcome of a job that was started. */
  addOutcome(outcome: Outcome): void {
    this.#outcomes.push(outcome);
    this.#wake();
  }

  /** The outcomes that were added since the last call. Their jobs stay in progress until they are removed. */
  takeOutcomes(): readonly Outcome[] {
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    return outcomes;
  }

  /** Removes a job whose outcome is recorded, or that has none and stays due. */
  remove(id: string): void {
    this.#started.delete(id);
    this.#wake();
  }

  /** Waits for an outcome; or until it is time to look for new jobs, or `wake` is called. */
  async waitForOutcome(): Promise<void> {
    if (this.#outcomes.length > 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timeout = setTimeout(resolve, pollMs);
    this.#wake = resolve;
    await promise;
    clearTimeout(timeout);
    this.#wake = () => {};
  }

  wake(): void {
    this.#wake();
  }
}
