// Logs unhandled rejections at a limited rate: an error that a caller can cause once can be caused many times.

import type { Logger } from "../http/logging/log.ts";
import { safeError } from "../lib/safe-error.ts";

const maxPerWindow = 10;
const windowMs = 60_000;

/** Logs unhandled rejections: at most ten a minute, and how many more there were. */
export class RejectionLog {
  readonly #logger: Logger;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  add(reason: unknown): void {
    this.#count += 1;
    this.#timer ??= setTimeout(() => this.#endWindow(), windowMs).unref();
    if (this.#count <= maxPerWindow) this.#logger.error({ err: safeError(reason) }, "unhandled rejection");
  }

  #endWindow(): void {
    const omitted = this.#count - maxPerWindow;
    if (omitted > 0) this.#logger.error({ omitted }, "more unhandled rejections were not logged");
    this.#count = 0;
    this.#timer = undefined;
  }
}
