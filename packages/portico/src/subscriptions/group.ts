// Subscribers who may see the same and ask for the same are a group: what is told of an event is made once for all.

import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { orNull } from "../engine/or-null.ts";
import type { RecordedEvent } from "../events/recorded-event.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import type { RowValues } from "../query/write.ts";
import type { EventSource } from "./event-source.ts";
import { matchesEvent, type ParsedEvent, type SubscriptionPlan } from "./plan.ts";
import type { Subscription } from "./subscription.ts";

/** Rows that are read at once, each with all that is selected around it. */
const readsAtOnce = 8;
/** Characters of messages that are made before the first of them leave. */
const charactersAtOnce = 256 * 1024;

/** Events that may wait in memory until rows are read for them; more are read from the table again. */
const maxWaitingEvents = 8;

/** What is told of an event. */
export interface Message {
  readonly sequence: number;
  /** The answer, as JSON text. */
  readonly text: string;
  /** Of the text. */
  readonly bytes: number;
}

interface SequencedEvent extends ParsedEvent {
  readonly sequence: number;
}

interface GroupParts {
  readonly key: string;
  readonly plan: SubscriptionPlan;
  readonly tenantId: string;
  /** Whether rows beside those of the events must be read. */
  readonly mustRead: boolean;
  readonly engine: Engine;
  readonly events: EventSource;
  /** Does what reads much once few others do. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
}

export class SubscriptionGroup {
  readonly key: string;
  readonly plan: SubscriptionPlan;
  readonly tenantId: string;
  readonly mustRead: boolean;
  readonly subscriptions = new Set<Subscription>();
  readonly #engine: Engine;
  readonly #events: EventSource;
  readonly #inTurn: GroupParts["inTurn"];
  /** Whoever is not behind has been told of everything up to this event; those who join are told of it on their own. */
  #told: number;
  /** The last event that there is to tell of. */
  #newest: number;
  #isTelling = false;

  constructor({ key, plan, tenantId, mustRead, engine, events, inTurn }: GroupParts) {
    this.key = key;
    this.plan = plan;
    this.tenantId = tenantId;
    this.mustRead = mustRead;
    this.#engine = engine;
    this.#events = events;
    this.#inTurn = inTurn;
    this.#told = events.position;
    this.#newest = events.position;
  }

  /** What callers of the group are told of events: some messages at a time, so that few wait in memory. */
  async *messagesOf(events: readonly SequencedEvent[], caller: Caller): AsyncGenerator<readonly Message[]> {
    const { plan } = this;
    const matching = events.filter((event) => matchesEvent(plan, event));
    if (matching.length === 0) return;
    const rows = matching.map(({ row }) => row);
    const visible = await this.#engine.areVisible(caller, plan.resource, rows);
    const delivered = matching.filter((_, index) => visible[index]);
    if (plan.isAnsweredByEvent) yield* ownMessages(plan, delivered);
    else yield* this.#readMessages(delivered, caller);
  }

  async *#readMessages(
    wanted: readonly SequencedEvent[],
    caller: Caller,
  ): AsyncGenerator<readonly Message[]> {
    for (let index = 0; index < wanted.length; index += readsAtOnce) {
      const some = wanted.slice(index, index + readsAtOnce);
      const texts = await Promise.all(some.map(({ rowId }) => this.#read(rowId, caller)));
      // A row that is gone meanwhile has an event of its own.
      const messages = some.flatMap(({ sequence }, index) =>
        texts[index] === "null" ? [] : [message(this.plan, sequence, texts[index]!)],
      );
      if (messages.length > 0) yield messages;
    }
  }

  /**
   * Tells everybody in the group of the events up to one. Those that come while it still tells of earlier ones are
   * read from the table once it has done so: none of them waits in memory.
   */
  async deliver(events: readonly SequencedEvent[], until: number, slice: TimeSlice): Promise<void> {
    this.#newest = Math.max(this.#newest, until);
    if (this.#isTelling) return;
    this.#isTelling = true;
    try {
      if (!this.mustRead) await this.#tellAll(events, until, slice);
      else if (events.length <= maxWaitingEvents)
        await this.#inTurn(() => this.#tellAll(events, until, new TimeSlice()));
      while (this.#told < this.#newest) await this.#inTurn(() => this.#tellMissed());
    } catch (error) {
      for (const each of this.subscriptions) each.fail(error);
    }
    this.#isTelling = false;
  }

  async #tellMissed(): Promise<void> {
    const slice = new TimeSlice();
    const { tenantId, plan } = this;
    const until = this.#newest;
    // Those who are behind read for themselves.
    if (!this.#firstInTime) return this.#tellAll([], until, slice);
    const topic = { tenantId, resource: plan.resource.name };
    const events = await this.#events.readRange({ ...topic, after: this.#told, until });
    const wanted = events.filter(({ kind }) => kind === plan.kind);
    const read = await readEvents(wanted, this.#events, slice);
    await this.#tellAll(read, events.at(-1)?.sequence ?? until, slice);
  }

  async #tellAll(events: readonly SequencedEvent[], until: number, slice: TimeSlice): Promise<void> {
    const first = this.#firstInTime;
    const left = events.filter(({ sequence }) => sequence > this.#told);
    if (first && left.length > 0)
      for await (const messages of this.messagesOf(left, first.caller)) {
        for (const each of this.subscriptions) {
          each.deliver(messages);
          if (slice.isOver) await slice.yield();
        }
        if (!this.#firstInTime) break;
      }
    this.#told = Math.max(this.#told, until);
    for (const each of this.subscriptions) each.pass(this.#told);
  }

  /** One who is told of events as they come. */
  get #firstInTime(): Subscription | undefined {
    for (const each of this.subscriptions) if (!each.isBehind) return each;
    return undefined;
  }

  #read(id: string, caller: Caller): Promise<string> {
    const { resource, selection } = this.plan;
    return orNull(this.#engine.get(caller, { resource, selection, id, conditions: [] }));
  }
}

function* ownMessages(
  plan: SubscriptionPlan,
  wanted: readonly SequencedEvent[],
): Generator<readonly Message[]> {
  let messages: Message[] = [];
  let characters = 0;
  for (const { sequence, row } of wanted) {
    const next = message(plan, sequence, plan.ownText(row));
    messages.push(next);
    characters += next.text.length;
    if (characters < charactersAtOnce) continue;
    yield messages;
    messages = [];
    characters = 0;
  }
  if (messages.length > 0) yield messages;
}

function message(plan: SubscriptionPlan, sequence: number, row: string): Message {
  const text = plan.messageOf(sequence, row);
  return { sequence, text, bytes: Buffer.byteLength(text) };
}

/** Events with their rows; one that cannot be read is left out, so that it keeps no other from anybody. */
export async function readEvents(
  events: readonly RecordedEvent[],
  source: Pick<EventSource, "skip">,
  slice: TimeSlice,
): Promise<readonly SequencedEvent[]> {
  const read: SequencedEvent[] = [];
  for (const event of events) {
    if (slice.isOver) await slice.yield();
    const { sequence, kind, rowId, row } = event;
    try {
      const values: RowValues | null = JSON.parse(row);
      if (values === null) throw new Error("the row is null");
      read.push({ sequence, kind, rowId, row: values });
    } catch (error) {
      source.skip(event, error);
    }
  }
  return read;
}
