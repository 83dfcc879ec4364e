// Sends the due deliveries of one endpoint while it holds the lease of its queue. Before each attempt it checks what the
// endpoint may get now: its principal may have lost a scope, a role or sight of a row since the event.

import { setTimeout as sleep } from "node:timers/promises";
import type { Principals } from "../auth/principal.ts";
import type { Caller } from "../declare/caller.ts";
import { isUnavailable } from "../errors.ts";
import type { Pace } from "../jobs/pace.ts";
import type { Encryption } from "../lib/encryption.ts";
import type { FairQueue } from "../lib/fair-queue.ts";
import type { OutboundFetch } from "../net/outbound-fetch.ts";
import { attemptDelivery, goneStatus, type Message } from "./attempt.ts";
import { type MessageContext, messagesOf, sizesOfFirst } from "./delivery-messages.ts";
import { type DueDelivery, selectDue } from "./delivery-queries.ts";
import type { DisableEndpoint } from "./disable-endpoint.ts";
import { findEndpoint, type Target } from "./endpoint-queries.ts";
import type { EndpointQueues, LeasedQueue, OfEndpoint } from "./endpoint-queue.ts";
import type { MessageMemory } from "./message-memory.ts";
import { failed, outcomeOf, postponed } from "./outcome.ts";
import { type Finished, QueueRecord } from "./queue-record.ts";
import type { DeliverySchedule } from "./schedule.ts";
import { lostSecret, signingKeys } from "./secret.ts";

/** The lease is extended when this much of it is left. */
const extendBeforeMs = 4_000;
/** Requests to one endpoint at once: one at a time while it fails. */
const maxRequests = 32;
/** How long to wait for further outcomes, which are recorded together. */
const batchDelayMs = 10;
/** Deliveries that start together while the thread has no time to spare. */
const minTogether = 8;
/** What looking for them costs, in units of the pace: a delivery that is sent costs one. */
const unitsOfPoll = 2;
/** How long an endpoint is sent to while others wait for a worker. */
const turnMs = 2_000;
/** How often to look for new deliveries while requests are in progress. */
const pollMs = 250;
const recordRetryMs = 500;
/** Five days of nothing but failures disable an endpoint. */
const failingMs = 5 * 24 * 60 * 60 * 1000;

export interface WorkerOptions extends MessageContext {
  readonly principals: Pick<Principals, "current">;
  readonly queues: EndpointQueues;
  readonly outbound: Pick<OutboundFetch, "fetch">;
  /** Bounds the requests of all workers. */
  readonly slots: FairQueue;
  /** The same for endpoints whose last attempt has failed, so that those that hang delay no other. */
  readonly failingSlots: FairQueue;
  readonly schedule: DeliverySchedule;
  readonly encryption: Encryption;
  readonly disable: DisableEndpoint;
  readonly pace: Pace;
  /** Bounds the messages of all workers. */
  readonly memory: MessageMemory;
  readonly isStopping: () => boolean;
  /** Whether endpoints may wait for a worker. */
  readonly isCrowded: () => boolean;
}

export class EndpointWorker {
  readonly #options: WorkerOptions;
  readonly #endpoint: OfEndpoint;
  readonly #record: QueueRecord;
  /** The deliveries whose attempts are in progress, or have outcomes that are not recorded yet. */
  readonly #inProgress = new Set<string>();
  #finished: Finished[] = [];
  #maxRequests: number;
  #target: Target | undefined;
  readonly #startedAt = Date.now();
  #wake = (): void => {};

  constructor(queue: LeasedQueue, options: WorkerOptions) {
    this.#options = options;
    this.#endpoint = { tenantId: queue.tenantId, endpointId: queue.id };
    this.#record = new QueueRecord(options.store, options.queues, queue);
    this.#maxRequests = queue.isFailing ? 1 : maxRequests;
  }

  /** Looks for new deliveries soon. */
  wake(): void {
    this.#wake();
  }

  /** Sends until nothing is due, or others need the turn, and ends the lease. */
  async run(): Promise<void> {
    for (;;) {
      const room = await this.#waitForRoom();
      if (room > 0 && (await this.#poll(room))) return;
      if (this.#isIdle) continue;
      await this.#waitForOutcomes();
      await this.#recordOutcomes();
    }
  }

  /** Waits until the pace allows to start deliveries. @returns how many; 0 while all requests are in progress */
  async #waitForRoom(): Promise<number> {
    const { pace, memory, isStopping } = this.#options;
    const free = this.#maxRequests - this.#inProgress.size;
    if (free <= 0) return 0;
    if (!memory.hasRoom(this.#endpoint.tenantId) && !isStopping()) {
      if (this.#isIdle) await sleep(pollMs);
      if (this.#record.remainingMs <= extendBeforeMs) await this.#write([]);
      return 0;
    }
    const room = Math.min(free, Math.max(minTogether, Math.floor(pace.burst)));
    await pace.take(room + unitsOfPoll);
    if (this.#record.remainingMs <= extendBeforeMs) await this.#write([]);
    return room;
  }

  /** Starts deliveries that are due. @returns whether the lease has ended */
  async #poll(room: number): Promise<boolean> {
    const { store, isStopping, isCrowded, pace } = this.#options;
    const target = await findEndpoint(store, store.database, this.#endpoint);
    this.#target = target;
    if (!target?.isEnabled && this.#isIdle) return this.#record.abandon(this.#endpoint, target !== undefined);
    const isYielding = isStopping() || (isCrowded() && Date.now() - this.#startedAt > turnMs);
    const caller = target?.isEnabled ? await this.#callerOf(target) : undefined;
    const started = target && caller && !isYielding ? await this.#startDue(target, caller, room) : 0;
    pace.charge(started - room);
    return this.#isIdle && this.#record.end(this.#endpoint, isYielding);
  }

  get #isIdle(): boolean {
    return this.#inProgress.size === 0;
  }

  /** The caller for whom the endpoint gets events. Without one, the endpoint is disabled. */
  async #callerOf(target: Target): Promise<Caller | undefined> {
    const caller = await this.#options.principals.current(target.principal);
    if (!caller) await this.#options.disable(target, "credential_revoked");
    return caller;
  }

  /** @returns how many */
  async #startDue(target: Target, caller: Caller, room: number): Promise<number> {
    const { store, encryption, memory, schedule, report } = this.#options;
    const { tenantId, endpointId } = this.#endpoint;
    const now = new Date().toISOString();
    const due = await selectDue(store).all(store.database, { ...this.#endpoint, now });
    const candidates = due.filter(({ id }) => !this.#inProgress.has(id)).slice(0, room);
    const sizes = await sizesOfFirst(store, candidates);
    const next = candidates.slice(0, sizes.length);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (next.length === 0 || !memory.take(tenantId, bytes)) return 0;
    const keys = signingKeys(encryption, target.secrets, now);
    if (keys.length === 0) report("webhooks cannot be signed", { endpoint: endpointId, reason: lostSecret });
    const messages = await this.#messages(keys, caller, next).catch((error) => {
      memory.free(tenantId, bytes);
      throw error;
    });
    for (const [index, delivery] of next.entries()) {
      this.#inProgress.add(delivery.id);
      const message = messages.get(delivery);
      const free = (): void => memory.free(tenantId, sizes[index]!);
      if (typeof message === "object") this.#send(target, keys, delivery, message, free);
      else {
        free();
        const reason = keys.length > 0 ? "A policy could not be evaluated." : lostSecret;
        this.#finished.push(
          message === undefined ? postponed(schedule, delivery, reason) : failed(delivery, message),
        );
      }
    }
    return next.length;
  }

  /** None if there is no key to sign them. */
  async #messages(
    keys: readonly Buffer[],
    caller: Caller,
    next: readonly DueDelivery[],
  ): Promise<ReadonlyMap<DueDelivery, Message | string>> {
    return keys.length > 0 ? messagesOf(this.#options, this.#endpoint, caller, next) : new Map();
  }

  /** @param free called when the attempt has ended */
  #send(
    target: Target,
    keys: readonly Buffer[],
    delivery: DueDelivery,
    message: Message,
    free: () => void,
  ): void {
    const { slots, failingSlots, outbound, schedule } = this.#options;
    const ownSlots = this.#maxRequests > 1 ? slots : failingSlots;
    const attempted = ownSlots.run(
      () => attemptDelivery(outbound, target.url, keys, message),
      this.#endpoint.tenantId,
    );
    attempted.then(
      (attempt) => {
        free();
        this.#finished.push(outcomeOf(schedule, delivery, attempt));
        this.#maxRequests = attempt.error === null ? maxRequests : 1;
        this.#wake();
      },
      (err: unknown) => {
        // The delivery stays due.
        free();
        this.#options.report("a webhook delivery could not be attempted", { delivery: delivery.id, err });
        this.#inProgress.delete(delivery.id);
        this.#wake();
      },
    );
  }

  /** Waits for an outcome, and a little for others; or until it is time to look for new deliveries. */
  async #waitForOutcomes(): Promise<void> {
    if (this.#finished.length === 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timeout = setTimeout(resolve, pollMs);
      this.#wake = resolve;
      await promise;
      clearTimeout(timeout);
      this.#wake = () => {};
    }
    if (this.#finished.length > 0 && this.#inProgress.size > this.#finished.length) await sleep(batchDelayMs);
  }

  async #recordOutcomes(): Promise<void> {
    const target = this.#target;
    const finished = this.#finished;
    this.#finished = [];
    if (finished.length === 0 && this.#record.remainingMs > extendBeforeMs) return;
    const failingSince = await this.#write(finished);
    for (const { delivery } of finished) this.#inProgress.delete(delivery.id);
    if (!target?.isEnabled) return;
    const isGone = finished.some(({ attempt }) => attempt?.status === goneStatus);
    if (isGone) await this.#options.disable(target, "gone");
    else if (failingSince !== null && Date.parse(failingSince) <= Date.now() - failingMs)
      await this.#options.disable(target, "failing");
  }

  /** Tries again until the lease ends: deliveries whose outcome is not written are sent again. */
  async #write(finished: readonly Finished[]): Promise<string | null> {
    for (;;)
      try {
        return await this.#record.write(this.#endpoint, finished);
      } catch (error) {
        if (!isUnavailable(error) || this.#record.remainingMs <= 0) throw error;
        await sleep(recordRetryMs);
      }
  }
}
