// Subscriptions with the same plan whose callers have the same policies. An event is read and rendered once for all of
// them.

import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { orNull } from "../engine/or-null.ts";
import { Position } from "../events/position.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import type { EventSource } from "./event-source.ts";
import { type ParsedEvent, parseEvents } from "./parsed-event.ts";
import { matchesEvent, type SubscriptionPlan } from "./plan.ts";
import type { Message } from "./result-sink.ts";

/** Rows that are read concurrently, each with its whole selection. */
const maxConcurrentReads = 8;
/** Characters of messages that are rendered before they are sent. */
const maxBatchCharacters = 256 * 1024;
/** Events that are held in memory while the group waits to read rows. If there are more, they are read again later. */
const maxHeldEvents = 8;

/** A subscription, as its group sees it. */
export interface GroupMember {
  readonly caller: Caller;
  /** Whether it reads the events it missed from the database. It takes no live events meanwhile. */
  readonly isBehind: boolean;
  deliver(messages: readonly Message[]): void;
  /** There are no further messages up to this event. */
  advance(position: Position): void;
  fail(error: unknown): void;
}

interface GroupOptions {
  readonly key: string;
  readonly plan: SubscriptionPlan;
  readonly tenantId: string;
  /** Whether rows must be read to decide who sees an event, or to render it. */
  readonly mustRead: boolean;
  readonly engine: Engine;
  readonly events: EventSource;
  /** Queues work that reads many rows, within the limits on concurrent reads. */
  readonly queueRead: (work: () => Promise<void>) => Promise<void>;
}

export class SubscriptionGroup {
  readonly key: string;
  readonly plan: SubscriptionPlan;
  readonly tenantId: string;
  readonly mustRead: boolean;
  readonly members = new Set<GroupMember>();
  readonly #engine: Engine;
  readonly #events: EventSource;
  readonly #queueRead: GroupOptions["queueRead"];
  /** Every member that is not behind has received the messages up to this event. */
  #position: Position;
  /** The last event to deliver. */
  #newest: Position;
  #isDelivering = false;

  constructor({ key, plan, tenantId, mustRead, engine, events, queueRead }: GroupOptions) {
    this.key = key;
    this.plan = plan;
    this.tenantId = tenantId;
    this.mustRead = mustRead;
    this.#engine = engine;
    this.#events = events;
    this.#queueRead = queueRead;
    this.#position = events.position;
    this.#newest = events.position;
  }

  /** The messages of the events that a caller of the group sees. They are yielded in batches, so that few are held in memory. */
  async *messagesOf(events: readonly ParsedEvent[], caller: Caller): AsyncGenerator<readonly Message[]> {
    const { plan } = this;
    const matching = events.filter((event) => matchesEvent(plan, event));
    if (matching.length === 0) return;
    const areVisible = await this.#engine.areVisible(caller, plan.resource, matching, plan.conditions);
    const visible = matching.filter((_, index) => areVisible[index]);
    if (plan.isRowSufficient) yield* recordedMessages(plan, visible);
    else yield* this.#readMessages(visible, caller);
  }

  async *#readMessages(events: readonly ParsedEvent[], caller: Caller): AsyncGenerator<readonly Message[]> {
    for (let index = 0; index < events.length; index += maxConcurrentReads) {
      const batch = events.slice(index, index + maxConcurrentReads);
      const texts = await Promise.all(batch.map(({ rowId }) => this.#read(rowId, caller)));
      // A row that has been deleted since then has a later event.
      const messages = batch.flatMap(({ position }, index) =>
        texts[index] === "null" ? [] : [renderMessage(this.plan, position, texts[index]!)],
      );
      if (messages.length > 0) yield messages;
    }
  }

  #read(id: string, caller: Caller): Promise<string> {
    const { resource, selection } = this.plan;
    return orNull(this.#engine.get(caller, { resource, selection, id, conditions: [] }));
  }

  /**
   * Delivers events to all members. Events that arrive while earlier ones are being delivered are read from the
   * database afterwards, so that none of them waits in memory.
   *
   * @param until the position up to which `events` is complete
   */
  async deliver(events: readonly ParsedEvent[], until: Position, slice: TimeSlice): Promise<void> {
    this.#newest = Position.latest(this.#newest, until);
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    try {
      if (!this.mustRead) await this.#deliverTo(events, until, slice);
      else if (events.length <= maxHeldEvents)
        await this.#queueRead(() => this.#deliverTo(events, until, new TimeSlice()));
      while (this.#newest.isAfter(this.#position)) await this.#queueRead(() => this.#deliverMissed());
    } catch (error) {
      for (const member of this.members) member.fail(error);
    } finally {
      this.#isDelivering = false;
    }
  }

  async #deliverMissed(): Promise<void> {
    const slice = new TimeSlice();
    const { tenantId, plan } = this;
    const until = this.#newest;
    // Members that are behind read the events themselves.
    if (!this.#firstLive) return this.#deliverTo([], until, slice);
    const topic = { tenantId, resource: plan.resource.name };
    const recorded = await this.#events.readRange({ ...topic, after: this.#position, until });
    const ofKind = recorded.filter(({ type: kind }) => kind === plan.kind);
    const parsed = await parseEvents(ofKind, this.#events, slice);
    await this.#deliverTo(parsed, recorded.at(-1)?.position ?? until, slice);
  }

  async #deliverTo(events: readonly ParsedEvent[], until: Position, slice: TimeSlice): Promise<void> {
    const first = this.#firstLive;
    const undelivered = events.filter(({ position }) => position.isAfter(this.#position));
    if (first && undelivered.length > 0)
      for await (const messages of this.messagesOf(undelivered, first.caller)) {
        for (const member of this.members) {
          member.deliver(messages);
          if (slice.isOver) await slice.yield();
        }
        if (!this.#firstLive) break;
      }
    this.#position = Position.latest(this.#position, until);
    for (const member of this.members) member.advance(this.#position);
  }

  /** The first member that takes events as they are recorded. */
  get #firstLive(): GroupMember | undefined {
    for (const member of this.members) if (!member.isBehind) return member;
    return undefined;
  }
}

/** Renders the rows that were recorded with the events. */
function* recordedMessages(
  plan: SubscriptionPlan,
  events: readonly ParsedEvent[],
): Generator<readonly Message[]> {
  let messages: Message[] = [];
  let characters = 0;
  for (const { position, row } of events) {
    const message = renderMessage(plan, position, plan.rowText(row));
    messages.push(message);
    characters += message.text.length;
    if (characters < maxBatchCharacters) continue;
    yield messages;
    messages = [];
    characters = 0;
  }
  if (messages.length > 0) yield messages;
}

function renderMessage(plan: SubscriptionPlan, position: Position, row: string): Message {
  const text = plan.render(position, row);
  return { position, text, bytes: Buffer.byteLength(text) };
}
