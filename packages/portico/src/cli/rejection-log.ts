// Logs unhandled rejections at a limited rate: an error that a caller can cause once can be caused many times.

import { inspect } from "node:util";
import type { Logger } from "../http/logging/log.ts";

const maxPerWindow = 10;
const windowMs = 60_000;
const maxReasonLength = 1_000;
const maxStackLength = 4_000;

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

/** The error to log for whatever was thrown, which may be anything, and of any size. */
export function safeError(thrown: unknown): Error {
  const error = new Error();
  try {
    const isError = thrown instanceof Error;
    error.name = isError ? String(thrown.name).slice(0, maxReasonLength) : "NonError";
    const text = isError ? String(thrown.message) : inspect(thrown, { depth: 1, maxArrayLength: 10 });
    error.message = text.slice(0, maxReasonLength);
    error.stack = isError ? String(thrown.stack).slice(0, maxStackLength) : `${error.name}: ${error.message}`;
  } catch {
    error.message = "what was thrown cannot be shown";
  }
  return error;
}
