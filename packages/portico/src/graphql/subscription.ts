// One subscription: where it begins among the events, what it was not told yet, and when it ends.

import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../declare/caller.ts";
import { fault, Problem } from "../errors.ts";
import type { EventSource } from "./event-source.ts";
import { missingScopes } from "./scopes.ts";
import { type Group, type Message, readEvent } from "./subscriber-group.ts";
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

const mostWaitingBytes = 1024 * 1024;
/** Messages that may wait while what was missed is told. */
const mostHeld = 1_000;
/** What was missed is told as fast as it is read. */
const comfortableBytes = 256 * 1024;
const betweenTriesMs = 10;
const longestStallMs = 30_000;

interface Parts {
  readonly subscribers: Subscribers;
  readonly events: EventSource;
  readonly plan: SubscriptionPlan;
  readonly question: string;
}

export class Subscription {
  readonly plan: SubscriptionPlan;
  readonly question: string;
  readonly #subscribers: Subscribers;
  readonly #events: EventSource;
  readonly #receiver: Receiver;
  #caller: Caller;
  #group: Group | undefined;
  #isEnded = false;
  /** What comes while it is not known yet what to begin with. */
  #held: Message[] | undefined = [];
  /** What was told before it began. */
  #from = 0;
  #skipped: ReadonlySet<number> = new Set();

  constructor({ subscribers, events, plan, question }: Parts, caller: Caller, receiver: Receiver) {
    this.plan = plan;
    this.question = question;
    this.#subscribers = subscribers;
    this.#events = events;
    this.#caller = caller;
    this.#receiver = receiver;
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
    const { told } = this.#events;
    this.#from = told;
    this.#group = this.#subscribers.join(this);
    const seen = await this.#events.seenAfter(told);
    if (after === undefined) this.#skipped = seen;
    else await this.#tellMissed(after, told, Math.max(told, ...seen));
    const held = this.#held ?? [];
    this.#held = undefined;
    if (held.length > 0) this.deliver(held);
  }

  async #tellMissed(after: number, told: number, newest: number): Promise<void> {
    if (after > newest) throw fault("lastEventId", "reference", `There is no event ${after} yet.`);
    this.#from = Math.max(after, told);
    const { plan, caller } = this;
    const place = { tenantId: caller.tenantId, resource: plan.resource.name, until: told };
    for (let last = after; last < told && !this.#isEnded; ) {
      const events = await this.#events.stretch({ ...place, after: last });
      if (events.length === 0) return;
      for (const message of await this.#group!.messagesOf(events.map(readEvent), this.#caller)) {
        await this.#room();
        if (!this.#isEnded) this.#receiver.send([message]);
      }
      last = events.at(-1)!.sequence;
    }
  }

  /** Waits until the reader has taken most of what was sent. */
  async #room(): Promise<void> {
    const until = performance.now() + longestStallMs;
    while (this.#receiver.waitingBytes > comfortableBytes && !this.#isEnded) {
      if (performance.now() > until) return this.#receiver.endTooSlow();
      await sleep(betweenTriesMs);
    }
  }

  /** Messages in their order. */
  deliver(messages: readonly Message[]): void {
    if (this.#isEnded) return;
    if (this.#held) this.#hold(this.#held, messages);
    // Before these are added: many at once are no fault of the reader.
    else if (this.#receiver.waitingBytes > mostWaitingBytes) this.#receiver.endTooSlow();
    else this.#send(messages);
  }

  #send(messages: readonly Message[]): void {
    const isNew = ({ sequence }: Message): boolean => sequence > this.#from && !this.#skipped.has(sequence);
    const fresh = messages.every(isNew) ? messages : messages.filter(isNew);
    if (fresh.length > 0) this.#receiver.send(fresh);
  }

  #hold(held: Message[], messages: readonly Message[]): void {
    held.push(...messages);
    if (held.length > mostHeld) this.#receiver.endTooSlow();
  }

  /** Takes what the credential may do by now. */
  update(caller: Caller): void {
    const [missing] = missingScopes(caller, this.plan.scopes);
    const isSame =
      this.#group === undefined || this.#subscribers.keyOf(this.question, caller) === this.#group.key;
    if (missing) this.#receiver.forbid(missing.problem);
    else if (!isSame) this.#receiver.forbid(changedRights());
    else this.#caller = caller;
  }

  fail(error: unknown): void {
    if (!this.#isEnded) this.#receiver.fail(error);
  }

  /** Nothing is sent any more. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#held = undefined;
    this.#subscribers.leave(this, this.#group);
  }
}

function changedRights(): Problem {
  return new Problem("forbidden", "What the credential may see has changed. Subscribe again.");
}
