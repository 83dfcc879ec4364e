// Work that a caller can make long gives way to others now and then.

import { setImmediate } from "node:timers/promises";

/** How long the main thread works on one operation before others have their turn. */
const maxMs = 5;

let last: Promise<void> = Promise.resolve();

/**
 * Waits for a turn of the event loop. Each of all who wait has one of its own, so that many long operations together
 * hold up others no longer than one of them.
 */
export function nextTurn(): Promise<void> {
  // handled: without a signal, setImmediate does not reject.
  last = last.then(() => setImmediate());
  return last;
}

export class Pauses {
  #began = performance.now();

  /** Whether it is the turn of others; `rest` gives it to them. */
  get isDue(): boolean {
    return performance.now() - this.#began > maxMs;
  }

  async rest(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}
