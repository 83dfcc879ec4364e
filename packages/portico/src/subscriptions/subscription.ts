// One subscription: its position among the events, its pace, and its end.

import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../declare/caller.ts";
import { Problem, validationError } from "../errors.ts";
import { Position } from "../events/position.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import type { EventDispatcher } from "./event-dispatcher.ts";
import type { EventSource, Topic } from "./event-source.ts";
import { parseEvents } from "./parsed-event.ts";
import type { SubscriptionPlan } from "./plan.ts";
import type { QuotaMeter } from "./quota-meter.ts";
import type { EndCause, Message, ResultSink } from "./result-sink.ts";
import type { GroupMember, SubscriptionGroup } from "./subscription-group.ts";

/** No more than this is sent before the sink has passed it on. Further events are read again from the database. */
const maxPendingBytes = 1024 * 1024;
/** A subscription that is behind reads on once fewer bytes than this are pending. */
const resumeBelowBytes = 256 * 1024;
const pollIntervalMs = 10;
/** A sink that passes nothing on for this long is too slow. */
const stallTimeoutMs = 5_000;

interface SubscriptionOptions {
  readonly dispatcher: EventDispatcher;
  readonly events: EventSource;
  readonly meter: QuotaMeter;
  readonly plan: SubscriptionPlan;
  readonly caller: Caller;
  readonly sink: ResultSink;
  readonly onEnd: (cause: EndCause) => void;
  /** Called once, whoever ended the subscription. */
  readonly onClosed: () => void;
}

export class Subscription implements GroupMember {
  readonly #options: SubscriptionOptions;
  #caller: Caller;
  #group: SubscriptionGroup | undefined;
  #isEnded = false;
  #isBehind = false;
  #position = Position.start;
  /** Events after the start position that were already visible at the start. */
  #skipped: ReadonlySet<string> = new Set();

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#caller = options.caller;
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Events up to this one have been sent, or precede the start. */
  get position(): Position {
    return this.#position;
  }

  get caller(): Caller {
    return this.#caller;
  }

  /**
   * Starts sending the messages of later events. The promise resolves once no event recorded from then on will be
   * missed, and earlier ones after `after` have been sent.
   *
   * @param after the position of the last event received, to resume after it
   * @throws Problem `validation_error` if there is no such event, or later ones have been deleted by retention
   */
  async start(after?: Position): Promise<void> {
    const { dispatcher, events, plan } = this.#options;
    await dispatcher.listen();
    if (this.#isEnded) return;
    const resumed = after && (await this.#resumedAt(after));
    const visible = await events.visibleAfter(events.position);
    if (this.#isEnded) return;
    if (!resumed) this.#skipped = visible;
    this.#position = resumed ?? events.position;
    this.#group = dispatcher.join(this, plan);
    await this.#catchUp(this.#group, resumed !== undefined);
  }

  /** @throws Problem `validation_error` if there is no such event, or later ones have been deleted by retention */
  async #resumedAt(after: Position): Promise<Position> {
    const resumed = await this.#options.events.resumedAt(after);
    if (!resumed) throw validationError("lastEventId", "reference", `There is no event ${after} yet.`);
    await this.#requireNotPurged(resumed);
    return resumed;
  }

  /**
   * Applies the current scopes and policies of the caller. Ends the subscription if a scope is missing or if other rows
   * are visible than before.
   */
  update(caller: Caller): void {
    const { dispatcher, plan } = this.#options;
    const missing = plan.missingScope(caller);
    try {
      const isSame = this.#group === undefined || dispatcher.groupKeyOf(plan, caller) === this.#group.key;
      if (missing) this.#endWith({ kind: "forbidden", problem: missing });
      else if (!isSame) this.#endWith({ kind: "forbidden", problem: accessChanged() });
      else this.#caller = caller;
    } catch (error) {
      // A policy that fails ends this subscription only; others of the credential are still updated.
      this.fail(error);
    }
  }

  /** Stops. Nothing is sent afterwards, and `onEnd` is not called. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#group) this.#options.dispatcher.leave(this, this.#group);
    this.#options.onClosed();
  }

  fail(error: unknown): void {
    this.#endWith({ kind: "failed", error });
  }

  #endWith(cause: EndCause): void {
    if (this.#isEnded) return;
    this.end();
    this.#options.onEnd(cause);
  }

  deliver(messages: readonly Message[]): void {
    if (this.#isEnded || this.#isBehind) return;
    const { sink, meter } = this.#options;
    const bytes = messages.reduce((sum, message) => sum + message.bytes, sink.pendingBytes);
    if (bytes <= maxPendingBytes && !meter.isEmpty) this.#send(messages);
    else this.#catchUp(this.#group!, false).catch((error: unknown) => this.fail(error));
  }

  advance(position: Position): void {
    if (!this.#isBehind) this.#position = Position.latest(this.#position, position);
  }

  get #topic(): Topic {
    return { tenantId: this.#caller.tenantId, resource: this.#options.plan.resource.name };
  }

  /** @throws Problem `validation_error` if events after this one have been deleted by retention */
  async #requireNotPurged(after: Position): Promise<void> {
    const last = await this.#options.events.lastPurged(this.#topic);
    if (!last.isAfter(after)) return;
    throw validationError(
      "lastEventId",
      "min",
      `Events up to ${last} have been deleted. Subscribe without lastEventId and fetch the current data.`,
    );
  }

  /** Sends the events up to the present from the database, at the pace of the sink and the quota. */
  async #catchUp(group: SubscriptionGroup, isResumed: boolean): Promise<void> {
    const { dispatcher, events, meter } = this.#options;
    this.#isBehind = true;
    while (!this.#isEnded && events.position.isAfter(this.#position)) {
      // Wait before reading, so that events do not wait in memory for each slow subscription.
      await this.#waitForSink();
      await meter.refilled();
      await dispatcher.queueRead(this.#topic.tenantId, () => this.#catchUpBatch(group, isResumed));
    }
    this.#isBehind = false;
  }

  async #catchUpBatch(group: SubscriptionGroup, isResumed: boolean): Promise<void> {
    // Other subscriptions of the connection or credential may have used its buffer or its tokens meanwhile.
    if (!this.#canSend) return;
    const { events: source, plan, meter } = this.#options;
    const until = source.position;
    const events = await source.readRange({ ...this.#topic, after: this.#position, until });
    // Checked after reading: events that were deleted before are missing from what was read.
    if (isResumed) await this.#requireNotPurged(this.#position);
    let unsentBytes = events.reduce((sum, { row }) => sum + Buffer.byteLength(row), 0);
    const ofKind = events.filter(({ type: kind }) => kind === plan.kind);
    const parsed = await parseEvents(ofKind, source, new TimeSlice());
    for await (const messages of group.messagesOf(parsed, this.#caller)) {
      unsentBytes -= this.#send(messages);
      this.#position = Position.latest(this.#position, messages.at(-1)!.position);
      // The next batch reads the others.
      if (!this.#canSend) return;
    }
    this.#position = events.at(-1)?.position ?? until;
    // Events that were only read are charged as well.
    if (unsentBytes > 0) meter.charge(this.#caller, unsentBytes);
  }

  get #canSend(): boolean {
    const { meter, sink } = this.#options;
    return !this.#isEnded && !meter.isEmpty && sink.pendingBytes <= resumeBelowBytes;
  }

  /** Waits until the sink has passed on most of what was sent. Ends the subscription if it makes no progress. */
  async #waitForSink(): Promise<void> {
    let lowestPending = Number.POSITIVE_INFINITY;
    let deadline = 0;
    for (;;) {
      const { pendingBytes } = this.#options.sink;
      if (pendingBytes <= resumeBelowBytes || this.#isEnded) return;
      const now = performance.now();
      if (pendingBytes < lowestPending) {
        lowestPending = pendingBytes;
        deadline = now + stallTimeoutMs;
      } else if (now > deadline) return this.#endWith({ kind: "tooSlow" });
      await sleep(pollIntervalMs);
    }
  }

  /** @returns the number of bytes sent */
  #send(messages: readonly Message[]): number {
    if (this.#isEnded) return 0;
    const isNew = ({ position }: Message): boolean =>
      position.isAfter(this.#position) && !(this.#skipped.size > 0 && this.#skipped.has(position.toString()));
    const fresh = messages.every(isNew) ? messages : messages.filter(isNew);
    if (fresh.length === 0) return 0;
    const { plan, sink, meter } = this.#options;
    this.#position = fresh.at(-1)!.position;
    sink.send(fresh);
    const bytes = fresh.reduce((sum, message) => sum + message.bytes, 0);
    meter.charge(this.#caller, bytes + fresh.length * plan.readCostBytes);
    return bytes;
  }
}

function accessChanged(): Problem {
  return new Problem("forbidden", "The access of the credential has changed. Subscribe again.");
}
