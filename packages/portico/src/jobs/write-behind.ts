// What requests leave behind - counts, log rows - is gathered in memory and written together: once a second at most,
// and in pieces, because SQLite has one writer, for which a caller's write must not wait long.

import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable } from "../errors.ts";
import type { Report } from "../lib/report.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { RejectedRows } from "./rejected-rows.ts";

/** So much of what was gathered as one transaction writes. */
export interface WriteBatch {
  write(session: Session): Promise<void>;
  /** It was not written: it is kept for the next time. */
  restore(): void;
  /** Its two halves; nothing for a single row. */
  halves(): readonly WriteBatch[];
}

/** The two halves of some rows; nothing for a single one. */
export function halvesOf<Row>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const middle = Math.ceil(rows.length / 2);
  return rows.length < 2 ? [] : [rows.slice(0, middle), rows.slice(middle)];
}

/** Gathers what is to be written, within bounds of its own. */
export interface WriteBuffer {
  /** Takes out of memory what is written now. */
  drain(): readonly WriteBatch[];
}

const intervalMs = 1_000;
/** At the end, a database that is busy is asked so often, with so long a pause. */
const finalAttempts = 3;
const finalRetryDelayMs = 500;
/** Rows that are refused one after the other before it is the database that is at fault. */
const maxRefused = 8;

export class WriteBehind {
  readonly #store: Store;
  readonly #buffers: readonly WriteBuffer[];
  readonly #report: Report;
  readonly #refused: RejectedRows;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<boolean> | undefined;
  #isFailing = false;

  constructor(store: Store, buffers: readonly WriteBuffer[], report: Report) {
    this.#store = store;
    this.#buffers = buffers;
    this.#report = report;
    this.#refused = new RejectedRows(report);
  }

  /** Writes once a second from here on. */
  start(): void {
    const flush = (): void => {
      this.flush().catch((error) => this.#reportOnce(error));
    };
    this.#timer = setInterval(flush, intervalMs).unref();
  }

  /** Writes everything that is left. What cannot be written is lost, and reported. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    for (let attempt = 1; !(await this.flush()); attempt += 1) {
      if (attempt === finalAttempts) return;
      await sleep(finalRetryDelayMs);
    }
  }

  /** Writes what was gathered so far. @returns whether all of it is written */
  flush(): Promise<boolean> {
    this.#flushing ??= this.#writeOnce();
    return this.#flushing;
  }

  async #writeOnce(): Promise<boolean> {
    try {
      return await this.#writeBatches();
    } finally {
      this.#flushing = undefined;
    }
  }

  /** Each transaction takes one piece of every gathering; other writes come between them. */
  async #writeBatches(): Promise<boolean> {
    const batches = this.#buffers.map((gathering) => [...gathering.drain()]);
    while (batches.some((pieces) => pieces.length > 0)) {
      const together = batches.flatMap((pieces) => pieces[0] ?? []);
      try {
        await this.#writeTogether(together);
      } catch (error) {
        const rest = isUnavailable(error) ? together : await this.#writeApart(together);
        for (const pieces of batches) pieces.shift();
        if (rest.length > 0) {
          for (const piece of [...rest, ...batches.flat()]) piece.restore();
          this.#reportOnce(error);
          return false;
        }
        continue;
      }
      for (const pieces of batches) pieces.shift();
    }
    await this.#refused.retry((piece) => this.#writeTogether([piece]));
    this.#isFailing = false;
    return true;
  }

  async #writeTogether(pieces: readonly WriteBatch[]): Promise<void> {
    await this.#store.transaction(async (session) => {
      for (const piece of pieces) await piece.write(session);
    });
  }

  /**
   * Writes what was refused together in ever smaller parts, down to the rows that are refused. These are set aside where
   * anything else was written; otherwise nothing says that the rows are at fault. @returns what is to be given back
   */
  async #writeApart(pieces: readonly WriteBatch[]): Promise<readonly WriteBatch[]> {
    const waiting = [...pieces];
    const refused: { readonly piece: WriteBatch; readonly error: unknown }[] = [];
    let isAnyWritten = false;
    while (waiting.length > 0 && (isAnyWritten || refused.length < maxRefused)) {
      const piece = waiting.pop()!;
      try {
        await this.#writeTogether([piece]);
        isAnyWritten = true;
      } catch (error) {
        const halves = piece.halves();
        if (isUnavailable(error)) return [...waiting, piece, ...refused.map((each) => each.piece)];
        if (halves.length === 0) refused.push({ piece, error });
        waiting.push(...halves);
      }
    }
    if (!isAnyWritten) return [...waiting, ...refused.map(({ piece }) => piece)];
    for (const { piece, error } of refused) this.#refused.add(piece, error);
    return [];
  }

  /** One line until it works again, not one a second. */
  #reportOnce(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#report("uses of keys and the request log cannot be written; they are kept and tried again", {
      err: error,
    });
  }
}
