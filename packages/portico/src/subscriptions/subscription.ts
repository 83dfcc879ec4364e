// One subscription: where it begins among the events, what it was not told yet, and when it ends.

import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../declare/caller.ts";
import { Problem, validationError } from "../errors.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import type { EventSource } from "./event-source.ts";
import { type Message, readEvents, type SubscriptionGroup } from "./group.ts";
import type { SubscriptionHub } from "./hub.ts";
import type { Meter } from "./meter.ts";
import type { SubscriptionPlan } from "./plan.ts";

/** Whoever takes the messages of a subscription, and ends it when there will be no more. */
export interface SubscriptionSink {
  /** Bytes that were sent and did not leave the process yet. */
  readonly pendingBytes: number;
  send(messages: readonly Message[]): void;
  /** Ends it with what went wrong. */
  fail(error: unknown): void;
  /** Ends it because the credential may not go on. */
  forbid(problem: Problem): void;
  /** Ends it because too much waits for the reader. */
  endTooSlow(): void;
}

/** More than this is not sent ahead of a reader; the rest is read again from the events when there is room. */
const maxPendingBytes = 1024 * 1024;
/** What was missed is told while less than this waits. */
const resumeBelowBytes = 256 * 1024;
const pollIntervalMs = 10;
/** Whoever takes nothing for so long is too slow. */
const stallTimeoutMs = 5_000;

interface SubscriptionDependencies {
  readonly hub: SubscriptionHub;
  readonly events: EventSource;
  readonly meter: Meter;
  readonly plan: SubscriptionPlan;
  readonly identity: string;
}

export class Subscription {
  readonly plan: SubscriptionPlan;
  readonly identity: string;
  readonly #hub: SubscriptionHub;
  readonly #events: EventSource;
  readonly #meter: Meter;
  readonly #sink: SubscriptionSink;
  #caller: Caller;
  #group: SubscriptionGroup | undefined;
  #isEnded = false;
  /** Told from the table of events, because some were missed or could not be taken yet; live ones are passed over. */
  #isBehind = false;
  /** Whatever was recorded up to this event is told, or was there before it began. */
  #position = 0;
  #skipped: ReadonlySet<number> = new Set();

  constructor(
    { hub, events, meter, plan, identity }: SubscriptionDependencies,
    caller: Caller,
    sink: SubscriptionSink,
  ) {
    this.plan = plan;
    this.identity = identity;
    this.#hub = hub;
    this.#events = events;
    this.#meter = meter;
    this.#caller = caller;
    this.#sink = sink;
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  get caller(): Caller {
    return this.#caller;
  }

  /**
   * Begins with what is recorded from now on, or with what was recorded after an event.
   * @throws Problem `validation_error` where there is no such event
   */
  async start(after: number | undefined): Promise<void> {
    await this.#hub.listen();
    if (this.#isEnded) return;
    const visible = await this.#events.visibleAfter(this.#events.position);
    if (this.#isEnded) return;
    const { position } = this.#events;
    let newest = position;
    for (const number of visible) newest = Math.max(newest, number);
    if (after === undefined) this.#skipped = visible;
    else if (after > newest)
      throw validationError("lastEventId", "reference", `There is no event ${after} yet.`);
    if (after !== undefined) await this.#requireNotPurged(after);
    if (this.#isEnded) return;
    this.#position = after ?? position;
    this.#group = this.#hub.join(this);
    await this.#catchUp(this.#group, after !== undefined);
  }

  /** @throws Problem `validation_error` where events after this one are kept no longer */
  async #requireNotPurged(after: number): Promise<void> {
    const last = await this.#events.lastPurged(this.#topic);
    if (after >= last) return;
    throw validationError(
      "lastEventId",
      "min",
      `Events up to ${last} are no longer kept. Subscribe without lastEventId and read again what you show.`,
    );
  }

  get #topic(): { tenantId: string; resource: string } {
    return { tenantId: this.#caller.tenantId, resource: this.plan.resource.name };
  }

  async #catchUp(group: SubscriptionGroup, isResumed: boolean): Promise<void> {
    this.#isBehind = true;
    while (!this.#isEnded && this.#position < this.#events.position) {
      // Before anything is read: what a reader does not take must not wait in memory for each of its subscriptions.
      await this.#waitForReader();
      await this.#meter.refilled();
      await this.#hub.inTurn(this.#topic.tenantId, () => this.#catchUpPart(group, isResumed));
    }
    this.#isBehind = false;
  }

  async #catchUpPart(group: SubscriptionGroup, isResumed: boolean): Promise<void> {
    // Others of the connection may have filled it meanwhile, or used up the tokens.
    if (!this.#maySend) return;
    const until = this.#events.position;
    const events = await this.#events.readRange({ ...this.#topic, after: this.#position, until });
    // Looked up after they are read: what was removed before that is missing among them.
    if (isResumed) await this.#requireNotPurged(this.#position);
    let unsent = events.reduce((sum, { row }) => sum + Buffer.byteLength(row), 0);
    const wanted = events.filter(({ kind }) => kind === this.plan.kind);
    const read = await readEvents(wanted, this.#events, new TimeSlice());
    for await (const messages of group.messagesOf(read, this.#caller)) {
      unsent -= this.#send(messages);
      this.#position = Math.max(this.#position, messages.at(-1)!.sequence);
      // The rest is read again when there is room for it.
      if (!this.#maySend) return;
    }
    this.#position = events.at(-1)?.sequence ?? until;
    // Events that only had to be read for a subscription are not free of charge either.
    if (unsent > 0) this.#meter.spend(this.#caller, unsent);
  }

  get #maySend(): boolean {
    return !this.#isEnded && !this.#meter.isEmpty && this.#sink.pendingBytes <= resumeBelowBytes;
  }

  /** Waits until the reader has taken most of what was sent. */
  async #waitForReader(): Promise<void> {
    let lowestPending = Number.POSITIVE_INFINITY;
    let until = 0;
    for (;;) {
      const { pendingBytes } = this.#sink;
      if (pendingBytes <= resumeBelowBytes || this.#isEnded) return;
      const now = performance.now();
      if (pendingBytes < lowestPending) {
        lowestPending = pendingBytes;
        until = now + stallTimeoutMs;
      } else if (now > until) return this.#sink.endTooSlow();
      await sleep(pollIntervalMs);
    }
  }

  /** Messages in their order. */
  deliver(messages: readonly Message[]): void {
    if (this.#isEnded || this.#isBehind) return;
    const bytes = messages.reduce((sum, each) => sum + each.bytes, this.#sink.pendingBytes);
    if (bytes <= maxPendingBytes && !this.#meter.isEmpty) this.#send(messages);
    else this.#catchUp(this.#group!, false).catch((error: unknown) => this.fail(error));
  }

  /** There is nothing else to tell up to this event. */
  pass(sequence: number): void {
    if (!this.#isBehind) this.#position = Math.max(this.#position, sequence);
  }

  /** @returns how many bytes were sent */
  #send(messages: readonly Message[]): number {
    if (this.#isEnded) return 0;
    const isNew = ({ sequence }: Message): boolean =>
      sequence > this.#position && !this.#skipped.has(sequence);
    const fresh = messages.every(isNew) ? messages : messages.filter(isNew);
    if (fresh.length === 0) return 0;
    this.#position = fresh.at(-1)!.sequence;
    this.#sink.send(fresh);
    const bytes = fresh.reduce((sum, each) => sum + each.bytes, 0);
    this.#meter.spend(this.#caller, bytes + fresh.length * this.plan.bytesOfReading);
    return bytes;
  }

  /** Takes what the credential may do by now. */
  update(caller: Caller): void {
    const missing = this.plan.missingScope(caller);
    try {
      const isSame = this.#group === undefined || this.#hub.keyOf(this.identity, caller) === this.#group.key;
      if (missing) this.#sink.forbid(missing);
      else if (!isSame) this.#sink.forbid(accessChanged());
      else this.#caller = caller;
    } catch (error) {
      // A policy that fails ends this subscription, and keeps nobody from updating the others of the credential.
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    if (!this.#isEnded) this.#sink.fail(error);
  }

  /** Nothing is sent any more. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#hub.leave(this, this.#group);
  }
}

function accessChanged(): Problem {
  return new Problem("forbidden", "What the credential may see has changed. Subscribe again.");
}
