// A reading thread, seen from the main thread. It runs one statement at a time.

import { Worker } from "node:worker_threads";
import { Problem } from "../../errors.ts";
import type { ColumnValues } from "../database.ts";
import { compileCache } from "./compile-cache.ts";
import { translateError } from "./connection.ts";
import { errorOf, type ReadFailure } from "./read-failure.ts";

/** The message to the thread; `ReadReply` is the message back. */
export interface ReadRequest {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** The maximum length of a value. A page as text is one value; a longer one fails with `AnswerTooLarge`. */
  readonly maxBytes: number;
  /** Whether to read row by row, until the texts of the rows together would exceed `maxBytes`. */
  readonly isCut?: boolean;
}
export type ReadReply = { readonly rows: readonly ColumnValues[] } | { readonly failure: ReadFailure };

/** Enough for the largest answer. With a higher limit, V8 would keep more garbage before it collects it. */
const resourceLimits = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 4 };

interface PendingReply {
  readonly resolve: (rows: readonly ColumnValues[]) => void;
  readonly reject: (error: unknown) => void;
}

export class ReadWorker {
  readonly #worker: Worker;
  #pending: PendingReply | undefined;
  #hasEnded = false;

  constructor(file: string) {
    this.#worker = new Worker(new URL("./read-worker-thread.ts", import.meta.url), {
      workerData: file,
      resourceLimits,
      ...compileCache(),
    });
    this.#worker.unref();
    this.#worker.on("message", (reply: ReadReply) => {
      const pending = this.#pending;
      this.#pending = undefined;
      if ("rows" in reply) pending?.resolve(reply.rows);
      else pending?.reject(translateError(errorOf(reply.failure)));
    });
    this.#worker.on("error", (error) => this.#end(error));
    this.#worker.on("exit", () => this.#end(new Error("the reading thread ended")));
  }

  /** Whether the thread has ended and can run no further statement. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** All rows of a statement. Call it again only after the previous call has settled. */
  query(request: ReadRequest): Promise<readonly ColumnValues[]> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#worker.postMessage(request);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  /** Called when the thread runs out of memory or ends for another unexpected reason. */
  #end(error: unknown): void {
    this.#hasEnded = true;
    this.#pending?.reject(new Problem("unavailable", undefined, [], {}, error));
    this.#pending = undefined;
  }
}
