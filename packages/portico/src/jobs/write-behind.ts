// Writes rows that requests produce as a by-product (counters, the request log). They are buffered in memory and written
// once a second, in batches: SQLite has one writer, and a caller's write must not wait long for it.

import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable } from "../errors.ts";
import type { Report } from "../lib/report.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import type { PeriodicWork } from "./periodic-task.ts";
import { RejectedRows } from "./rejected-rows.ts";

/** Rows that one transaction writes. */
export interface WriteBatch {
  write(session: Session): Promise<void>;
  /** Returns the rows to their buffer, because they were not written. */
  restore(): void;
  /** The two halves of the batch; none for a single row. */
  halves(): readonly WriteBatch[];
}

/** The two halves of a list; none for a single row. */
export function halvesOf<Row>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const middle = Math.ceil(rows.length / 2);
  return rows.length < 2 ? [] : [rows.slice(0, middle), rows.slice(middle)];
}

/** Collects rows within its own bounds. */
export interface WriteBuffer {
  readonly isEmpty: boolean;
  /** Removes the rows of one flush from the buffer. Some may remain. */
  drain(): readonly WriteBatch[];
}

const intervalMs = 1_000;
/** How often, and with what delay, `finish` tries to write the rest. */
const finalAttempts = 3;
const finalRetryDelayMs = 500;
/** Rejected rows in a row after which the database, not the rows, counts as the cause. */
const maxRejected = 8;

export class WriteBehind {
  readonly #store: Store;
  readonly #buffers: readonly WriteBuffer[];
  readonly #report: Report;
  readonly #rejected: RejectedRows;
  #flushing: Promise<boolean> | undefined;
  #isFailing = false;

  constructor(store: Store, buffers: readonly WriteBuffer[], report: Report) {
    this.#store = store;
    this.#buffers = buffers;
    this.#report = report;
    this.#rejected = new RejectedRows(report);
  }

  /** Writes once a second. */
  get work(): PeriodicWork {
    const name = "writing the key usage and the request log";
    return { name, delayMs: intervalMs, intervalMs, run: () => this.flush() };
  }

  /** Writes the rest, once no more rows are added. Rows that cannot be written after some attempts are lost. */
  async finish(): Promise<void> {
    await this.#flushing;
    let failures = 0;
    do {
      if (await this.flush()) continue;
      failures += 1;
      if (failures === finalAttempts) return;
      await sleep(finalRetryDelayMs);
    } while (this.#buffers.some(({ isEmpty }) => !isEmpty));
  }

  /** Writes what the buffers hold. @returns false if the database accepts no rows; the rows are kept then */
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

  /** Each transaction writes one batch of every buffer, so that other writes can run in between. */
  async #writeBatches(): Promise<boolean> {
    const queues = this.#buffers.map((buffer) => [...buffer.drain()]);
    while (queues.some((batches) => batches.length > 0)) {
      const together = queues.flatMap((batches) => batches.shift() ?? []);
      try {
        await this.#write(together);
      } catch (error) {
        const unwritten = isUnavailable(error) ? together : await this.#writeApart(together);
        if (unwritten.length === 0) continue;
        for (const batch of [...unwritten, ...queues.flat()]) batch.restore();
        this.#reportOnce(error);
        return false;
      }
    }
    await this.#rejected.retry((row) => this.#write([row]));
    this.#isFailing = false;
    return true;
  }

  async #write(batches: readonly WriteBatch[]): Promise<void> {
    const write = async (session: Session): Promise<void> => {
      for (const batch of batches) await batch.write(session);
    };
    await this.#store.transaction(write, { mayBeLost: true });
  }

  /**
   * Writes batches whose common transaction failed, in ever smaller parts down to single rows. Rejected rows are set
   * aside if any other row was written; otherwise the rows may not be the cause.
   *
   * @returns the batches that were neither written nor set aside
   */
  async #writeApart(batches: readonly WriteBatch[]): Promise<readonly WriteBatch[]> {
    const pending = [...batches];
    const rejected: { readonly row: WriteBatch; readonly error: unknown }[] = [];
    let isAnyWritten = false;
    while (pending.length > 0 && (isAnyWritten || rejected.length < maxRejected)) {
      const batch = pending.pop()!;
      try {
        await this.#write([batch]);
        isAnyWritten = true;
      } catch (error) {
        const halves = batch.halves();
        if (isUnavailable(error)) return [...pending, batch, ...rejected.map(({ row }) => row)];
        if (halves.length === 0) rejected.push({ row: batch, error });
        pending.push(...halves);
      }
    }
    if (!isAnyWritten) return [...pending, ...rejected.map(({ row }) => row)];
    for (const { row, error } of rejected) this.#rejected.add(row, error);
    return [];
  }

  /** Reports the first of consecutive failures, instead of one a second. */
  #reportOnce(err: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#report("key usage and the request log cannot be written; the rows are kept and written later", {
      err,
    });
  }
}
