// What handlers were called with, for suites that declare some.

import type { HandlerContext } from "../../src/declare/handlers.ts";

/** Waits until a condition holds that the calls of handlers make true. */
export class Calls<Call = HandlerContext> {
  readonly all: Call[] = [];
  readonly #waiting = new Set<() => void>();

  add(call: Call): void {
    this.all.push(call);
    for (const check of this.#waiting) check();
  }

  /** @throws Error after 20 seconds */
  async until(holds: (all: readonly Call[]) => boolean): Promise<readonly Call[]> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = (): void => {
      if (holds(this.all)) resolve();
    };
    const timeout = setTimeout(() => reject(new Error(`there were ${this.all.length} calls`)), 20_000);
    this.#waiting.add(check);
    check();
    try {
      await promise;
    } finally {
      clearTimeout(timeout);
      this.#waiting.delete(check);
    }
    return this.all;
  }
}
