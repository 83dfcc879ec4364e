// What requests leave behind - counts, log rows - is gathered in memory and written together: once a second at most,
// and in pieces, because SQLite has one writer, for which a caller's write must not wait long.

import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "./database.ts";
import type { Report } from "./report.ts";
import type { Store } from "./store.ts";

/** So much of what was gathered as one transaction writes. */
export interface Piece {
  write(session: Session): Promise<void>;
  /** It was not written: it is kept for the next time. */
  giveBack(): void;
}

/** Gathers what is to be written, within bounds of its own. */
export interface Gathering {
  /** Takes out of memory what is written now. */
  take(): readonly Piece[];
}

const intervalMs = 1_000;
/** At the end, a database that is busy is asked so often, with so long a pause. */
const lastAttempts = 3;
const lastPauseMs = 500;

export class WriteBehind {
  readonly #store: Store;
  readonly #gatherings: readonly Gathering[];
  readonly #report: Report;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<boolean> | undefined;
  #isFailing = false;

  constructor(store: Store, gatherings: readonly Gathering[], report: Report) {
    this.#store = store;
    this.#gatherings = gatherings;
    this.#report = report;
  }

  /** Writes once a second from here on. */
  start(): void {
    const flush = (): void => {
      this.flush().catch((error) => this.#tellOnce(error));
    };
    this.#timer = setInterval(flush, intervalMs).unref();
  }

  /** Writes everything that is left. What cannot be written is lost, and reported. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    for (let attempt = 1; !(await this.flush()); attempt += 1) {
      if (attempt === lastAttempts) return;
      await sleep(lastPauseMs);
    }
  }

  /** Writes what was gathered so far. @returns whether all of it is written */
  flush(): Promise<boolean> {
    this.#flushing ??= this.#writeOnce();
    return this.#flushing;
  }

  async #writeOnce(): Promise<boolean> {
    try {
      return await this.#write();
    } finally {
      this.#flushing = undefined;
    }
  }

  /** Each transaction takes one piece of every gathering; other writes come between them. */
  async #write(): Promise<boolean> {
    const taken = this.#gatherings.map((gathering) => [...gathering.take()]);
    while (taken.some((pieces) => pieces.length > 0)) {
      const together = taken.flatMap((pieces) => pieces[0] ?? []);
      try {
        await this.#store.transaction(async (session) => {
          for (const piece of together) await piece.write(session);
        });
      } catch (error) {
        for (const piece of taken.flat()) piece.giveBack();
        this.#tellOnce(error);
        return false;
      }
      for (const pieces of taken) pieces.shift();
    }
    this.#isFailing = false;
    return true;
  }

  /** One line until it works again, not one a second. */
  #tellOnce(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#report("uses of keys and the request log cannot be written; they are kept and tried again", {
      err: error,
    });
  }
}
