// Calls handlers in the background: leases the queues in which something is due, and lets a worker make the calls of each.

import { randomUUID } from "node:crypto";
import { leaseMs } from "../jobs/queue-lease.ts";
import { QueueWorkers } from "../jobs/queue-workers.ts";
import { FairQueue } from "../lib/fair-queue.ts";
import { timestampOf } from "../lib/timestamp.ts";
import type { DeclaredHandler } from "./declared-handlers.ts";
import { HandlerQueues, type LeasedQueue } from "./handler-queue.ts";
import { QueueWorker, type WorkerOptions } from "./queue-worker.ts";

/** Queues of one handler that a process works on at once, so that a handler that hangs takes up no turns of others. */
const maxQueuesAtOnce = 100;
/** Calls of one handler at once, and those for one tenant. */
const callSlots = { slots: 32, slotsPerGroup: 8 };

export interface RunnerOptions
  extends Omit<WorkerOptions, "slots" | "queues" | "stopping" | "isStopping" | "isCrowded"> {
  readonly handlers: readonly DeclaredHandler[];
}

/** A handler with the queues that are being worked on. */
interface RunningHandler {
  readonly handler: DeclaredHandler;
  readonly queues: HandlerQueues;
  readonly options: WorkerOptions;
  readonly workers: QueueWorkers;
}

export class JobRunner {
  readonly #options: RunnerOptions;
  /** The queues of all handlers. */
  readonly #queues: HandlerQueues;
  readonly #handlers: readonly RunningHandler[];
  /** Aborted when calls in progress have to end. */
  readonly #stopping = new AbortController();
  #isStopping = false;

  constructor(options: RunnerOptions) {
    const { handlers, store, report } = options;
    this.#options = options;
    const names = handlers.map(({ name }) => name);
    this.#queues = new HandlerQueues(store, names, report);
    this.#handlers = handlers.map((handler) => this.#running(handler));
  }

  /** Starts to make the calls that are due. Call it periodically, one call at a time. */
  async poll(): Promise<void> {
    const now = Date.now();
    const from = timestampOf(now);
    if (this.#isStopping || !(await this.#queues.isAnyDue(from))) return;
    for (const running of this.#handlers) {
      const { queues, workers } = running;
      const free = maxQueuesAtOnce - workers.size;
      if (free <= 0 || !(await queues.isAnyDue(from))) continue;
      const lease = { id: randomUUID(), from, until: timestampOf(now + leaseMs) };
      for (const queue of await queues.lease(free, lease)) this.#start(running, queue);
    }
  }

  /** Looks for new calls in the queues that are being worked on. */
  wake(): void {
    for (const { workers } of this.#handlers) workers.wake();
  }

  /** Waits for calls in progress. After the timeout they are given up, and made again later. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true;
    this.#options.pace.end();
    this.wake();
    const timeout = setTimeout(() => this.#stopping.abort(), timeoutMs);
    await Promise.all(this.#handlers.map(({ workers }) => workers.end()));
    clearTimeout(timeout);
  }

  #running(handler: DeclaredHandler): RunningHandler {
    const queues = new HandlerQueues(this.#options.store, [handler.name], this.#options.report);
    const workers = new QueueWorkers();
    const options = {
      ...{ ...this.#options, queues, slots: new FairQueue(callSlots) },
      stopping: this.#stopping.signal,
      isStopping: () => this.#isStopping,
      isCrowded: () => workers.size >= maxQueuesAtOnce,
    };
    return { handler, queues, options, workers };
  }

  #start({ handler, options, workers }: RunningHandler, queue: LeasedQueue): void {
    workers.start(new QueueWorker(queue, handler, options), (err) =>
      options.report("the calls of a handler are interrupted", { handler: handler.name, err }),
    );
  }
}
