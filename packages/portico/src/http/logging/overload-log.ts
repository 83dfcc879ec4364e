// What was refused because there was too much of it, told once a second: a line for each would be one more thing that
// callers could make too much of.

import type { Logger } from "./log.ts";

const intervalMs = 1_000;

/** What there was too much of. */
export type Overload =
  | "connectionsClosed"
  | "connectionsRefused"
  | "requestsRefused"
  | "bodiesRefused"
  | "slowReadsRefused"
  | "slowReadsTimedOut";

export class OverloadLog {
  readonly #logger: Logger;
  #counts: Partial<Record<Overload, number>> = {};
  #timer: NodeJS.Timeout | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  count(what: Overload): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + 1;
    this.#timer ??= setTimeout(() => this.#report(), intervalMs).unref();
  }

  #report(): void {
    this.#logger.warn(this.#counts, "overloaded: what went beyond the bounds was refused");
    this.#counts = {};
    this.#timer = undefined;
  }
}
