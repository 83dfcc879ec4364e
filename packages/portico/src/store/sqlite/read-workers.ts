// Reads that may take long, or return much, run in threads of their own, with connections of their own: SQLite answers while the
// caller waits, and the requests of everybody else must not wait with it.

import type { ColumnValues } from "../database.ts";
import { bytesOf, type CountRefused, SlowReadQueue } from "../slow-read-queue.ts";
import { type ReadRequest, ReadThread } from "./read-worker.ts";

/** A tenant has two, and the third is started only where another one needs it. */
const threads = 3;
const threadsOfTenant = 2;

export class ReadWorker {
  readonly #file: string;
  readonly #queue: SlowReadQueue;
  readonly #all = new Set<ReadThread>();
  #idle: ReadThread[] = [];

  constructor(file: string, timeoutMs: number, countRefused: CountRefused) {
    this.#file = file;
    this.#queue = new SlowReadQueue({
      slots: threads,
      slotsPerTenant: threadsOfTenant,
      timeoutMs,
      countRefused,
    });
  }

  /** All rows of a statement, which reads for a tenant. Threads start when they are needed first. */
  query(tenantId: string, question: ReadRequest): Promise<readonly ColumnValues[]> {
    return this.#queue.run(tenantId, bytesOf(question.values), async () => {
      const thread = this.#idle.pop() ?? this.#start();
      try {
        return await thread.query(question);
      } finally {
        if (thread.hasEnded) this.#all.delete(thread);
        else this.#idle.push(thread);
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((thread) => thread.close()));
  }

  #start(): ReadThread {
    const thread = new ReadThread(this.#file);
    this.#all.add(thread);
    return thread;
  }
}
