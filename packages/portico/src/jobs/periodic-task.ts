// Work that a server does again and again beside its requests.

export class PeriodicTask {
  readonly #run: () => Promise<void>;
  readonly #intervalMs: number;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void>;
  #hasFailed = false;

  /**
   * Works at once, and again so long after it last ended. A failure does not end it; of failures in a row
   * the first is told.
   */
  constructor(run: () => Promise<void>, intervalMs: number, onError: (error: unknown) => void) {
    this.#run = run;
    this.#intervalMs = intervalMs;
    this.#onError = onError;
    this.#running = this.#runOnce();
  }

  /** Waits for the work that is under way; there is no more after it. */
  async stop(): Promise<void> {
    const running = this.#running;
    clearTimeout(this.#timer);
    await running;
    clearTimeout(this.#timer);
  }

  async #runOnce(): Promise<void> {
    try {
      await this.#run();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#onError(error);
      this.#hasFailed = true;
    }
    this.#timer = setTimeout(() => {
      this.#running = this.#runOnce();
    }, this.#intervalMs);
  }
}
