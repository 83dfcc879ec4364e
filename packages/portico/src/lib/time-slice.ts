// Long synchronous work is done in time slices, so that other requests can be served in between.

import { setImmediate } from "node:timers/promises";

/** How long one operation may occupy the main thread without a break. */
const sliceMs = 5;

let last: Promise<void> = Promise.resolve();

/**
 * Waits for the next iteration of the event loop. Every waiter gets an iteration of its own, so that many long operations
 * delay others no longer than one does.
 */
export function yieldToEventLoop(): Promise<void> {
  // handled: without a signal, setImmediate does not reject.
  last = last.then(() => setImmediate());
  return last;
}

export class TimeSlice {
  #start = performance.now();

  /** Whether the operation should call `yield` now. */
  get isOver(): boolean {
    return performance.now() - this.#start > sliceMs;
  }

  async yield(): Promise<void> {
    await yieldToEventLoop();
    this.#start = performance.now();
  }
}
