// Work that a server does again and again beside its requests.

export class Repeated {
  readonly #work: () => Promise<void>;
  readonly #everyMs: number;
  readonly #tellFailure: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void>;
  #hasFailed = false;

  /**
   * Works at once, and again so long after it last ended. A failure does not end it; of failures in a row
   * the first is told.
   */
  constructor(work: () => Promise<void>, everyMs: number, tellFailure: (error: unknown) => void) {
    this.#work = work;
    this.#everyMs = everyMs;
    this.#tellFailure = tellFailure;
    this.#running = this.#run();
  }

  /** Waits for the work that is under way; there is no more after it. */
  async stop(): Promise<void> {
    const running = this.#running;
    clearTimeout(this.#timer);
    await running;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    try {
      await this.#work();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#tellFailure(error);
      this.#hasFailed = true;
    }
    this.#timer = setTimeout(() => {
      this.#running = this.#run();
    }, this.#everyMs);
  }
}
