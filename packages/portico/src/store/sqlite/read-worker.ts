// A thread that reads, as the main thread sees it: it is asked one statement at a time.

import { Worker } from "node:worker_threads";
import { Problem } from "../../errors.ts";
import type { ColumnValues } from "../database.ts";
import { translateError } from "./connection.ts";

/** What goes to the thread, and what comes back. */
export interface ReadRequest {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** The length of a value, a page as text among them, beyond which it fails with `AnswerTooLarge`. */
  readonly maxBytes: number;
  /** Whether rows are read one by one, until their texts together would be longer than that. */
  readonly isCut?: boolean;
}
export type ReadReply = { readonly rows: readonly ColumnValues[] } | { readonly failure: ReadFailure };

/** An error, in the parts that tell its kind. An `Error` itself would lose its codes on the way. */
export interface ReadFailure {
  readonly message: string;
  readonly code: string | undefined;
  readonly errcode: number | undefined;
}

/** Enough for an answer of the largest size; with more, V8 would leave as much more garbage before it collects it. */
const resourceLimits = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 4 };

interface PendingReply {
  readonly resolve: (rows: readonly ColumnValues[]) => void;
  readonly reject: (error: unknown) => void;
}

export class ReadThread {
  readonly #worker: Worker;
  #waiting: PendingReply | undefined;
  #hasEnded = false;

  constructor(file: string) {
    this.#worker = new Worker(new URL("./read-worker-thread.ts", import.meta.url), {
      workerData: file,
      resourceLimits,
    });
    this.#worker.unref();
    this.#worker.on("message", (reply: ReadReply) => {
      const pending = this.#waiting;
      this.#waiting = undefined;
      if ("rows" in reply) pending?.resolve(reply.rows);
      else pending?.reject(translateError(errorOf(reply.failure)));
    });
    this.#worker.on("error", (error) => this.#end(error));
    this.#worker.on("exit", () => this.#end(new Error("the reading thread ended")));
  }

  /** Whether it can be asked nothing more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** All rows of a statement. Ask again only when it has answered. */
  query(question: ReadRequest): Promise<readonly ColumnValues[]> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#worker.postMessage(question);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  /** It ran out of memory, or ended in another way that no statement should end it. */
  #end(error: unknown): void {
    this.#hasEnded = true;
    this.#waiting?.reject(new Problem("unavailable", undefined, [], {}, error));
    this.#waiting = undefined;
  }
}

function errorOf({ message, code, errcode }: ReadFailure): Error {
  return Object.assign(
    new Error(message),
    code !== undefined && { code },
    errcode !== undefined && { errcode },
  );
}
