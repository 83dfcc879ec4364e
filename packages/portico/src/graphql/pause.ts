// Work that a caller can make long gives way to others now and then.

import { setImmediate } from "node:timers/promises";

/** How long the main thread works on one operation before others have their turn. */
const longestMs = 5;

export class Pauses {
  #began = performance.now();

  /** Whether it is the turn of others; `rest` gives it to them. */
  get isDue(): boolean {
    return performance.now() - this.#began > longestMs;
  }

  async rest(): Promise<void> {
    await setImmediate();
    this.#began = performance.now();
  }
}
