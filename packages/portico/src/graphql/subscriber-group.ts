// Subscribers who may see the same and ask for the same are a group: what is told of an event is made once for all.

import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import type { RecordedEvent } from "../plan/recorded-event.ts";
import type { RowValues } from "../plan/write.ts";
import { orNull } from "./compile.ts";
import type { EventSource } from "./event-source.ts";
import type { Subscription } from "./subscription.ts";
import { isAbout, ownPart, type ReadEvent, type SubscriptionPlan } from "./subscription-plan.ts";

/** Rows that are read at once, each with all that is selected around it. */
const readsAtOnce = 8;
/** Characters of messages that are made before the first of them leave. */
const charactersAtOnce = 256 * 1024;

/** What is told of an event. */
export interface Message {
  readonly sequence: number;
  /** The answer, as JSON text. */
  readonly text: string;
}

interface NumberedEvent extends ReadEvent {
  readonly sequence: number;
}

export class Group {
  readonly key: string;
  readonly plan: SubscriptionPlan;
  readonly tenantId: string;
  readonly subscriptions = new Set<Subscription>();
  readonly #engine: Engine;

  constructor(key: string, plan: SubscriptionPlan, tenantId: string, engine: Engine) {
    this.key = key;
    this.plan = plan;
    this.tenantId = tenantId;
    this.#engine = engine;
  }

  /** What callers of the group are told of events: some messages at a time, so that few wait in memory. */
  async *messagesOf(events: readonly NumberedEvent[], caller: Caller): AsyncGenerator<readonly Message[]> {
    const { plan } = this;
    const about = events.filter((event) => isAbout(plan, event));
    if (about.length === 0) return;
    const rows = about.map(({ row }) => row);
    const visible = await this.#engine.areVisible(caller, plan.resource, rows);
    const wanted = about.filter((_, place) => visible[place]);
    if (plan.isOwn) yield* ownMessages(plan, wanted);
    else yield* this.#readMessages(wanted, caller);
  }

  async *#readMessages(wanted: readonly NumberedEvent[], caller: Caller): AsyncGenerator<readonly Message[]> {
    for (let place = 0; place < wanted.length; place += readsAtOnce) {
      const some = wanted.slice(place, place + readsAtOnce);
      const texts = await Promise.all(some.map(({ rowId }) => this.#read(rowId, caller)));
      // A row that is gone meanwhile has an event of its own.
      const messages = some.flatMap(({ sequence }, index) =>
        texts[index] === "null" ? [] : [message(this.plan, sequence, texts[index]!)],
      );
      if (messages.length > 0) yield messages;
    }
  }

  /** Tells everybody in the group. */
  async tell(events: readonly NumberedEvent[]): Promise<void> {
    const [first] = this.subscriptions;
    if (!first) return;
    try {
      for await (const messages of this.messagesOf(events, first.caller))
        for (const each of this.subscriptions) each.deliver(messages);
    } catch (error) {
      for (const each of this.subscriptions) each.fail(error);
    }
  }

  #read(id: string, caller: Caller): Promise<string> {
    const { resource, selection } = this.plan;
    return orNull(this.#engine.get(caller, { resource, selection, id, conditions: [] }));
  }
}

function* ownMessages(
  plan: SubscriptionPlan,
  wanted: readonly NumberedEvent[],
): Generator<readonly Message[]> {
  let messages: Message[] = [];
  let characters = 0;
  for (const { sequence, row } of wanted) {
    const next = message(plan, sequence, ownPart(plan, row));
    messages.push(next);
    characters += next.text.length;
    if (characters < charactersAtOnce) continue;
    yield messages;
    messages = [];
    characters = 0;
  }
  if (messages.length > 0) yield messages;
}

function message({ name }: SubscriptionPlan, sequence: number, row: string): Message {
  return { sequence, text: `{"data":{"${name}":${row}},"extensions":{"eventId":"${sequence}"}}` };
}

/** Events with their rows; one that cannot be read is left out, so that it keeps no other from anybody. */
export function readEvents(
  events: readonly RecordedEvent[],
  source: Pick<EventSource, "skip">,
): NumberedEvent[] {
  return events.flatMap((event) => {
    const { sequence, kind, rowId, row } = event;
    try {
      const values: RowValues | null = JSON.parse(row);
      if (values === null) throw new Error("the row is null");
      return [{ sequence, kind, rowId, row: values }];
    } catch (error) {
      source.skip(event, error);
      return [];
    }
  });
}
