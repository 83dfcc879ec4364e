// Rows that the database refuses, while it takes others: they are tried again by themselves, ever less often, and
// given up in the end.

import type { Report } from "../lib/report.ts";
import type { WriteBatch } from "./write-behind.ts";

const firstWaitMs = 5_000;
const maxAttempts = 6;
/** Rows that are kept at once; more are given up at once. */
const maxCached = 1_000;
/** Rows that are tried again in one go. */
const maxRetried = 20;

interface Refused {
  readonly piece: WriteBatch;
  readonly attempts: number;
  readonly retryAt: number;
}

export class RejectedRows {
  readonly #report: Report;
  readonly #now: () => number;
  #kept: Refused[] = [];

  constructor(report: Report, now: () => number = Date.now) {
    this.#report = report;
    this.#now = now;
  }

  /** Keeps a row that was refused now. @param attempts made before */
  add(piece: WriteBatch, err: unknown, attempts = 0): void {
    const isKept = attempts + 1 < maxAttempts && this.#kept.length < maxCached;
    const waitMs = firstWaitMs * 4 ** attempts;
    const message = isKept
      ? "a row that requests left behind is refused by the database and set aside"
      : "a row that requests left behind is refused by the database and given up";
    const retryInSeconds = isKept ? waitMs / 1_000 : undefined;
    this.#report(message, { err, attempts: attempts + 1, retryInSeconds });
    if (isKept) this.#kept.push({ piece, attempts: attempts + 1, retryAt: this.#now() + waitMs });
  }

  /** Tries those again whose time has come. */
  async retry(write: (piece: WriteBatch) => Promise<void>): Promise<void> {
    const now = this.#now();
    const due = this.#kept.filter(({ retryAt }) => retryAt <= now).slice(0, maxRetried);
    for (const refused of due) {
      this.#kept = this.#kept.filter((each) => each !== refused);
      try {
        await write(refused.piece);
      } catch (error) {
        this.add(refused.piece, error, refused.attempts);
      }
    }
  }
}
