// One subscription: where it begins among the events, what it was not told yet, and when it ends.

import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../declare/caller.ts";
import { fault, Problem } from "../errors.ts";
import type { EventSource } from "./event-source.ts";
import type { Meter } from "./meter.ts";
import { Pauses } from "./pause.ts";
import { missingScopes } from "./scopes.ts";
import { type Group, type Message, readEvents } from "./subscriber-group.ts";
import type { Subscribers } from "./subscribers.ts";
import type { SubscriptionPlan } from "./subscription-plan.ts";

/** Whoever takes the messages of a subscription, and ends it when there will be no more. */
export interface Receiver {
  /** Bytes that were sent and did not leave the process yet. */
  readonly waitingBytes: number;
  send(messages: readonly Message[]): void;
  /** Ends it with what went wrong. */
  fail(error: unknown): void;
  /** Ends it because the credential may not go on. */
  forbid(problem: Problem): void;
  /** Ends it because too much waits for the reader. */
  endTooSlow(): void;
}

/** More than this is not sent ahead of a reader; the rest is read again from the events when there is room. */
const mostWaitingBytes = 1024 * 1024;
/** What was missed is told while less than this waits. */
const comfortableBytes = 256 * 1024;
const betweenLooksMs = 10;
/** Whoever takes nothing for so long is too slow. */
const longestStallMs = 5_000;

interface Parts {
  readonly subscribers: Subscribers;
  readonly events: EventSource;
  readonly meter: Meter;
  readonly plan: SubscriptionPlan;
  readonly question: string;
}

export class Subscription {
  readonly plan: SubscriptionPlan;
  readonly question: string;
  readonly #subscribers: Subscribers;
  readonly #events: EventSource;
  readonly #meter: Meter;
  readonly #receiver: Receiver;
  #caller: Caller;
  #group: Group | undefined;
  #isEnded = false;
  /** Told from the table of events, because some were missed or could not be taken yet; live ones are passed over. */
  #isBehind = false;
  /** Whatever was recorded up to this event is told, or was there before it began. */
  #told = 0;
  #skipped: ReadonlySet<number> = new Set();

  constructor({ subscribers, events, meter, plan, question }: Parts, caller: Caller, receiver: Receiver) {
    this.plan = plan;
    this.question = question;
    this.#subscribers = subscribers;
    this.#events = events;
    this.#meter = meter;
    this.#caller = caller;
    this.#receiver = receiver;
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
  async begin(after: number | undefined): Promise<void> {
    await this.#subscribers.listen();
    if (this.#isEnded) return;
    const seen = await this.#events.seenAfter(this.#events.told);
    if (this.#isEnded) return;
    const { told } = this.#events;
    let newest = told;
    for (const number of seen) newest = Math.max(newest, number);
    if (after === undefined) this.#skipped = seen;
    else if (after > newest) throw fault("lastEventId", "reference", `There is no event ${after} yet.`);
    if (after !== undefined) await this.#requireKept(after);
    if (this.#isEnded) return;
    this.#told = after ?? told;
    this.#group = this.#subscribers.join(this);
    await this.#catchUp(this.#group, after !== undefined);
  }

  /** @throws Problem `validation_error` where events after this one are kept no longer */
  async #requireKept(after: number): Promise<void> {
    const last = await this.#events.lastPurged(this.#topic);
    if (after >= last) return;
    throw fault(
      "lastEventId",
      "min",
      `Events up to ${last} are no longer kept. Subscribe without lastEventId and read again what you show.`,
    );
  }

  get #topic(): { tenantId: string; resource: string } {
    return { tenantId: this.#caller.tenantId, resource: this.plan.resource.name };
  }

  async #catchUp(group: Group, isResumed: boolean): Promise<void> {
    this.#isBehind = true;
    while (!this.#isEnded && this.#told < this.#events.told) {
      // Before anything is read: what a reader does not take must not wait in memory for each of its subscriptions.
      await this.#room();
      await this.#meter.refilled();
      await this.#subscribers.inTurn(this.#topic.tenantId, () => this.#catchUpPart(group, isResumed));
    }
    this.#isBehind = false;
  }

  async #catchUpPart(group: Group, isResumed: boolean): Promise<void> {
    // Others of the connection may have filled it meanwhile, or used up the tokens.
    if (!this.#maySend) return;
    const until = this.#events.told;
    const events = await this.#events.stretch({ ...this.#topic, after: this.#told, until });
    // Looked up after they are read: what was removed before that is missing among them.
    if (isResumed) await this.#requireKept(this.#told);
    let unsent = events.reduce((sum, { row }) => sum + Buffer.byteLength(row), 0);
    const wanted = events.filter(({ kind }) => kind === this.plan.kind);
    const read = await readEvents(wanted, this.#events, new Pauses());
    for await (const messages of group.messagesOf(read, this.#caller)) {
      unsent -= this.#send(messages);
      this.#told = Math.max(this.#told, messages.at(-1)!.sequence);
      // The rest is read again when there is room for it.
      if (!this.#maySend) return;
    }
    this.#told = events.at(-1)?.sequence ?? until;
    // Events that only had to be read for a subscription are not free of charge either.
    if (unsent > 0) this.#meter.spend(this.#caller, unsent);
  }

  get #maySend(): boolean {
    return !this.#isEnded && !this.#meter.isEmpty && this.#receiver.waitingBytes <= comfortableBytes;
  }

  /** Waits until the reader has taken most of what was sent. */
  async #room(): Promise<void> {
    let least = Number.POSITIVE_INFINITY;
    let until = 0;
    for (;;) {
      const { waitingBytes } = this.#receiver;
      if (waitingBytes <= comfortableBytes || this.#isEnded) return;
      const now = performance.now();
      if (waitingBytes < least) {
        least = waitingBytes;
        until = now + longestStallMs;
      } else if (now > until) return this.#receiver.endTooSlow();
      await sleep(betweenLooksMs);
    }
  }

  /** Messages in their order. */
  deliver(messages: readonly Message[]): void {
    if (this.#isEnded || this.#isBehind) return;
    const bytes = messages.reduce((sum, each) => sum + each.bytes, this.#receiver.waitingBytes);
    if (bytes <= mostWaitingBytes && !this.#meter.isEmpty) this.#send(messages);
    else this.#catchUp(this.#group!, false).catch((error: unknown) => this.fail(error));
  }

  /** There is nothing else to tell up to this event. */
  pass(sequence: number): void {
    if (!this.#isBehind) this.#told = Math.max(this.#told, sequence);
  }

  /** @returns how many bytes were sent */
  #send(messages: readonly Message[]): number {
    if (this.#isEnded) return 0;
    const isNew = ({ sequence }: Message): boolean => sequence > this.#told && !this.#skipped.has(sequence);
    const fresh = messages.every(isNew) ? messages : messages.filter(isNew);
    if (fresh.length === 0) return 0;
    this.#told = fresh.at(-1)!.sequence;
    this.#receiver.send(fresh);
    const bytes = fresh.reduce((sum, each) => sum + each.bytes, 0);
    this.#meter.spend(this.#caller, bytes + fresh.length * this.plan.bytesOfReading);
    return bytes;
  }

  /** Takes what the credential may do by now. */
  update(caller: Caller): void {
    const [missing] = missingScopes(caller, this.plan.scopes);
    try {
      const isSame =
        this.#group === undefined || this.#subscribers.keyOf(this.question, caller) === this.#group.key;
      if (missing) this.#receiver.forbid(missing.problem);
      else if (!isSame) this.#receiver.forbid(changedRights());
      else this.#caller = caller;
    } catch (error) {
      // A policy that fails ends this subscription, and keeps nobody from updating the others of the credential.
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    if (!this.#isEnded) this.#receiver.fail(error);
  }

  /** Nothing is sent any more. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#subscribers.leave(this, this.#group);
  }
}

function changedRights(): Problem {
  return new Problem("forbidden", "What the credential may see has changed. Subscribe again.");
}
