// Reads that may take long run in a thread of their own, with a connection of their own: SQLite answers while the
// caller waits, and the requests of everybody else must not wait with it.

import { Worker } from "node:worker_threads";
import { Problem } from "../../errors.ts";
import type { ColumnValues } from "../database.ts";

/** Reads that may wait for their turn; beyond that, more would only be answered too late. */
const mostWaiting = 1_000;

interface Waiting {
  readonly resolve: (rows: readonly ColumnValues[]) => void;
  readonly reject: (error: unknown) => void;
}

/** What goes to the thread, and what comes back. */
export interface Question {
  readonly number: number;
  readonly sql: string;
  readonly values: readonly unknown[];
}
export interface Reply {
  readonly number: number;
  readonly rows?: readonly ColumnValues[];
  readonly error?: string;
}

export class BackgroundReader {
  readonly #file: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #asked = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** All rows of a statement. The thread starts with the first one. */
  query(sql: string, values: readonly unknown[]): Promise<readonly ColumnValues[]> {
    if (this.#waiting.size >= mostWaiting)
      throw new Problem("unavailable", "Too many searches are under way.");
    this.#worker ??= this.#start();
    const question: Question = { number: ++this.#asked, sql, values };
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.number, { resolve, reject });
      this.#worker!.postMessage(question);
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL("./background-thread.ts", import.meta.url), { workerData: this.#file });
    worker.unref();
    worker.on("message", ({ number, rows, error }: Reply) => {
      const waiting = this.#waiting.get(number)!;
      this.#waiting.delete(number);
      if (rows) waiting.resolve(rows);
      else waiting.reject(new Error(error));
    });
    worker.on("error", (error) => this.#fail(error));
    worker.on("exit", () => this.#fail(new Error("the reading thread ended")));
    return worker;
  }

  /** Whoever waits is told; the next read starts a new thread. */
  #fail(error: unknown): void {
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
