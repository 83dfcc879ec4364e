// Sends due deliveries in the background: leases the queues of endpoints in which something is due, and lets a worker
// send for each.

import { randomUUID } from "node:crypto";
import { leaseMs } from "../jobs/queue-lease.ts";
import { QueueWorkers } from "../jobs/queue-workers.ts";
import { FairQueue } from "../lib/fair-queue.ts";
import { timestampOf } from "../lib/timestamp.ts";
import type { OutboundFetch } from "../net/outbound-fetch.ts";
import { EndpointQueues, type LeasedQueue } from "./endpoint-queue.ts";
import { EndpointWorker, type WorkerOptions } from "./endpoint-worker.ts";
import { MessageMemory } from "./message-memory.ts";

/** Endpoints that a process sends to at once. */
const maxEndpointsAtOnce = 1_000;
/** Requests at once, and those for one tenant. */
const requestSlots = { slots: 256, slotsPerGroup: 128 };
/** Those to endpoints that fail. */
const failingSlots = { slots: 128, slotsPerGroup: 16 };

export interface SenderOptions
  extends Omit<
    WorkerOptions,
    "queues" | "memory" | "slots" | "failingSlots" | "outbound" | "isStopping" | "isCrowded"
  > {
  readonly outbound: OutboundFetch;
}

export class DeliverySender {
  readonly #options: WorkerOptions;
  readonly #outbound: OutboundFetch;
  readonly #queues: EndpointQueues;
  readonly #workers = new QueueWorkers();
  readonly #stopping = new AbortController();

  constructor(options: SenderOptions) {
    this.#outbound = options.outbound;
    this.#queues = new EndpointQueues(options.store, options.report);
    this.#options = {
      ...options,
      queues: this.#queues,
      slots: new FairQueue(requestSlots),
      failingSlots: new FairQueue(failingSlots),
      memory: new MessageMemory(),
      isCrowded: () => this.#workers.size >= maxEndpointsAtOnce,
      isStopping: () => this.#stopping.signal.aborted,
    };
  }

  /** Starts to send what is due. Call it periodically, one call at a time. */
  async poll(): Promise<void> {
    const free = maxEndpointsAtOnce - this.#workers.size;
    const now = Date.now();
    if (this.#stopping.signal.aborted || free <= 0 || !(await this.#queues.isAnyDue(timestampOf(now))))
      return;
    const lease = { id: randomUUID(), from: timestampOf(now), until: timestampOf(now + leaseMs) };
    for (const queue of await this.#queues.lease(free, lease)) this.#start(queue);
  }

  /** Looks for new deliveries of the endpoints that are being sent to. */
  wake(): void {
    this.#workers.wake();
  }

  /** Waits for requests in progress. After the timeout they are aborted, and attempted again later. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping.abort();
    this.#options.pace.end();
    this.wake();
    const timeout = setTimeout(() => this.#outbound.close(), timeoutMs);
    await this.#workers.end();
    clearTimeout(timeout);
    this.#outbound.close();
  }

  #start(queue: LeasedQueue): void {
    this.#workers.start(new EndpointWorker(queue, this.#options), (err) =>
      this.#options.report("the deliveries of a webhook endpoint are interrupted", {
        endpoint: queue.id,
        err,
      }),
    );
  }
}
