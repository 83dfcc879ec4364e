// Runs slow and large reads in worker threads with their own connections. SQLite is synchronous: on the main thread, such
// a read would block all other requests.

import type { ColumnValues } from "../database.ts";
import { bytesOf, type CountRefused, SlowReadQueue } from "../slow-read-queue.ts";
import { type ReadRequest, ReadWorker } from "./read-worker.ts";

/** One tenant can use two threads; the third is started when another tenant needs it. */
const threads = 3;
const threadsOfTenant = 2;

export class ReadWorkers {
  readonly #file: string;
  readonly #queue: SlowReadQueue;
  readonly #all = new Set<ReadWorker>();
  #idle: ReadWorker[] = [];

  constructor(file: string, timeoutMs: number, countRefused: CountRefused) {
    this.#file = file;
    this.#queue = new SlowReadQueue({
      slots: threads,
      slotsPerTenant: threadsOfTenant,
      timeoutMs,
      countRefused,
    });
  }

  /** All rows of a statement that reads for a tenant. Threads are started when they are first needed. */
  query(tenantId: string, request: ReadRequest): Promise<readonly ColumnValues[]> {
    return this.#queue.run(tenantId, bytesOf(request.values), async () => {
      const worker = this.#idle.pop() ?? this.#start();
      try {
        return await worker.query(request);
      } finally {
        if (worker.hasEnded) this.#all.delete(worker);
        else this.#idle.push(worker);
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((worker) => worker.close()));
  }

  #start(): ReadWorker {
    const worker = new ReadWorker(this.#file);
    this.#all.add(worker);
    return worker;
  }
}
