// Rows of the write-behind that the database rejects although it accepts others. They are retried one at a time, and
// dropped after some attempts.

import type { Report } from "../lib/report.ts";
import { limitedRetries } from "./retry-schedule.ts";
import type { WriteBatch } from "./write-behind.ts";

/** Rows held in memory; further ones are dropped at once. */
const maxRows = 1_000;
/** Rows that one flush retries. */
const maxRetried = 20;

interface RejectedRow {
  readonly row: WriteBatch;
  readonly attempts: number;
  readonly retryAt: number;
}

export class RejectedRows {
  readonly #report: Report;
  readonly #now: () => number;
  #rows: RejectedRow[] = [];

  constructor(report: Report, now: () => number = Date.now) {
    this.#report = report;
    this.#now = now;
  }

  /** @param attempts including the one that has just failed */
  add(row: WriteBatch, err: unknown, attempts = 1): void {
    const delayMs = this.#rows.length < maxRows ? limitedRetries.delayAfter(attempts) : undefined;
    const retryInSeconds = delayMs === undefined ? undefined : delayMs / 1_000;
    const action = delayMs === undefined ? "dropped" : "set aside";
    this.#report(`the database rejects a row of the key usage or the request log; the row is ${action}`, {
      err,
      attempts,
      retryInSeconds,
    });
    if (delayMs !== undefined) this.#rows.push({ row, attempts, retryAt: this.#now() + delayMs });
  }

  /** Writes the rows that are due again. */
  async retry(write: (row: WriteBatch) => Promise<void>): Promise<void> {
    const now = this.#now();
    const due = this.#rows.filter(({ retryAt }) => retryAt <= now).slice(0, maxRetried);
    for (const rejected of due) {
      this.#rows = this.#rows.filter((each) => each !== rejected);
      try {
        await write(rejected.row);
      } catch (error) {
        this.add(rejected.row, error, rejected.attempts + 1);
      }
    }
  }
}
