// A stream of rows on SQLite: a thread of its own with its own connection, which reads them in one transaction.

import { Worker } from "node:worker_threads";
import { Problem } from "../../errors.ts";
import type { CsvFormat } from "../../lib/csv.ts";
import { maxSilenceMs, type RowChunk, type RowStream, streamClosed, tooSlow } from "../row-stream.ts";
import { compileCache } from "./compile-cache.ts";
import { translateError } from "./connection.ts";
import { errorOf, type ReadFailure } from "./read-failure.ts";

interface BoundStatement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** What the thread is started with. */
export interface RowStreamData {
  readonly file: string;
  readonly rows: BoundStatement;
  readonly count: BoundStatement | undefined;
  readonly csv: CsvFormat | undefined;
}

/** The reply to the first message, and to each further one. */
export type RowStreamReply =
  | { readonly total: number | undefined }
  | { readonly lines: string; readonly count: number; readonly hasEnded: boolean }
  | { readonly failure: ReadFailure };

/** With a higher limit, V8 would keep more garbage before it collects it. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };

interface PendingReply {
  readonly resolve: (reply: RowStreamReply) => void;
  readonly reject: (error: unknown) => void;
}

export class SqliteRowStream implements RowStream {
  total: number | undefined;
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  readonly #onClose: (stream: SqliteRowStream) => void;
  #pending: PendingReply | undefined;
  #failure: unknown;
  #hasEnded = false;

  /** @param onClose called once, when the stream is closed */
  constructor(data: RowStreamData, onClose: (stream: SqliteRowStream) => void) {
    this.#onClose = onClose;
    this.#worker = new Worker(new URL("./row-stream-thread.ts", import.meta.url), {
      workerData: data,
      resourceLimits,
      ...compileCache(),
    });
    this.#worker.unref();
    this.#worker.on("message", (reply: RowStreamReply) => {
      const pending = this.#pending;
      this.#pending = undefined;
      if ("failure" in reply) pending?.reject(translateError(errorOf(reply.failure)));
      else pending?.resolve(reply);
    });
    this.#worker.on("error", (error) => this.#end(new Problem("unavailable", undefined, [], {}, error)));
    this.ended = new Promise((resolve) => this.#worker.once("exit", () => resolve()));
    this.#worker.on("exit", () => this.#end(streamClosed()));
  }

  /** Begins to read. @throws Problem */
  async open(): Promise<this> {
    const reply = await this.#request();
    if ("total" in reply) this.total = reply.total;
    return this;
  }

  async next(): Promise<RowChunk | undefined> {
    while (!this.#hasEnded) {
      const reply = await this.#request();
      if (!("lines" in reply)) break;
      const { lines, count, hasEnded } = reply;
      this.#hasEnded = hasEnded;
      if (count > 0) return { lines, count };
    }
    return undefined;
  }

  /** The thread ends after the step of the statement that it is at. */
  close(): void {
    this.#end(streamClosed());
  }

  async #request(): Promise<RowStreamReply> {
    if (this.#failure !== undefined) throw this.#failure;
    const timer = setTimeout(() => this.#end(tooSlow()), maxSilenceMs);
    try {
      return await new Promise((resolve, reject) => {
        this.#pending = { resolve, reject };
        this.#worker.postMessage("next");
      });
    } finally {
      clearTimeout(timer);
    }
  }

  #end(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#pending?.reject(error);
    this.#pending = undefined;
    // Its end is awaited.
    this.#worker.ref();
    // handled: `terminate` never rejects.
    void this.#worker.terminate();
    this.#onClose(this);
  }
}
