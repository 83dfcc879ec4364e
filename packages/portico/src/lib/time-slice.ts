// Work that a caller can make long gives way to others now and then.

import { setImmediate } from "node:timers/promises";

/** How long the main thread works on one operation before others have their turn. */
const maxMs = 5;

let last: Promise<void> = Promise.resolve();

/**
 * Waits for a turn of the event loop. Each of all who wait has one of its own, so that many long operations together
 * hold up others no longer than one of them.
 */
export function yieldToEventLoop(): Promise<void> {
  // handled: without a signal, setImmediate does not reject.
  last = last.then(() => setImmediate());
  return last;
}

export class TimeSlice {
  #began = performance.now();

  /** Whether it is the turn of others; `rest` gives it to them. */
  get isOver(): boolean {
    return performance.now() - this.#began > maxMs;
  }

  async yield(): Promise<void> {
    await yieldToEventLoop();
    this.#began = performance.now();
  }
}
