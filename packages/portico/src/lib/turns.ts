// A bound for work that takes memory: so many pieces are under way at once, and the others wait in their order.

export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Pieces that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Does the work once fewer pieces are under way. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      this.#end();
    }
  }

  /** Whoever waits longest takes the place that is free. */
  #end(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
