// Sends the due deliveries of one endpoint while it holds the lease of its queue. Before each attempt it checks what the
// endpoint may get now: its principal may have lost a scope, a role or sight of a row since the event.

import { setTimeout as sleep } from "node:timers/promises";
import type { Principals } from "../auth/principal.ts";
import type { Caller } from "../declare/caller.ts";
import type { Pace } from "../jobs/pace.ts";
import { pollMs, WorkInProgress } from "../jobs/work-in-progress.ts";
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

/** Requests to one endpoint at once: one at a time while it fails. */
const maxRequests = 32;
/** How long to wait for further outcomes, which are recorded together. */
const batchDelayMs = 10;
/** Deliveries that start together while the thread has no time to spare. */
const minTogether = 8;
/** What looking for them costs, in units of the pace: a delivery that is sent costs one. */
const unitsOfPoll = 2;
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
  readonly #inProgress = new WorkInProgress<Finished>();
  #maxRequests: number;
  #target: Target | undefined;

  constructor(queue: LeasedQueue, options: WorkerOptions) {
    this.#options = options;
    this.#endpoint = { tenantId: queue.tenantId, endpointId: queue.id };
    this.#record = new QueueRecord(options.store, options.queues, queue);
    this.#maxRequests = queue.isFailing ? 1 : maxRequests;
  }

  /** Looks for new deliveries soon. */
  wake(): void {
    this.#inProgress.wake();
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
      if (this.#record.isEnding) await this.#record.write(this.#endpoint, []);
      return 0;
    }
    const room = Math.min(free, Math.max(minTogether, Math.floor(pace.burst)));
    await pace.take(room + unitsOfPoll);
    if (this.#record.isEnding) await this.#record.write(this.#endpoint, []);
    return room;
  }

  /** Starts deliveries that are due. @returns whether the lease has ended */
  async #poll(room: number): Promise<boolean> {
    const { store, isStopping, isCrowded, pace } = this.#options;
    const target = await findEndpoint(store, store.database, this.#endpoint);
    this.#target = target;
    if (!target?.isEnabled && this.#isIdle) return this.#record.abandon(this.#endpoint, target !== undefined);
    const isYielding = isStopping() || (isCrowded() && this.#record.isTurnOver);
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
      this.#inProgress.start(delivery.id);
      const message = messages.get(delivery);
      const free = (): void => memory.free(tenantId, sizes[index]!);
      if (typeof message === "object") this.#send(target, keys, delivery, message, free);
      else {
        free();
        const reason = keys.length > 0 ? "A policy could not be evaluated." : lostSecret;
        this.#inProgress.addOutcome(
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
        this.#maxRequests = attempt.error === null ? maxRequests : 1;
        this.#inProgress.addOutcome(outcomeOf(schedule, delivery, attempt));
      },
      (err: unknown) => {
        // The delivery stays due.
        free();
        this.#options.report("a webhook delivery could not be attempted", { delivery: delivery.id, err });
        this.#inProgress.remove(delivery.id);
      },
    );
  }

  /** Waits for an outcome, and a little for others; or until it is time to look for new deliveries. */
  async #waitForOutcomes(): Promise<void> {
    await this.#inProgress.waitForOutcome();
    const { outcomes, size } = this.#inProgress;
    if (outcomes > 0 && size > outcomes) await sleep(batchDelayMs);
  }

  async #recordOutcomes(): Promise<void> {
    const target = this.#target;
    const finished = this.#inProgress.takeOutcomes();
    if (finished.length === 0 && !this.#record.isEnding) return;
    const failingSince = await this.#record.write(this.#endpoint, finished);
    for (const { delivery } of finished) this.#inProgress.remove(delivery.id);
    if (!target?.isEnabled) return;
    const isGone = finished.some(({ attempt }) => attempt?.status === goneStatus);
    if (isGone) await this.#options.disable(target, "gone");
    else if (failingSince !== null && Date.parse(failingSince) <= Date.now() - failingMs)
      await this.#options.disable(target, "failing");
  }
}
