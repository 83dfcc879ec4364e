// Logs what was refused because of overload, as counts once a second. A line for each refusal would let callers flood the
// log.

import type { Logger } from "./log.ts";

const intervalMs = 1_000;

/** Kinds of refusals. */
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
    this.#logger.warn(this.#counts, "overloaded: requests or connections above the limits were refused");
    this.#counts = {};
    this.#timer = undefined;
  }
}
