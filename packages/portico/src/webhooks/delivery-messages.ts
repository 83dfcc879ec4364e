// What deliveries send: the rows of their events, if the endpoint may still get them.

import type { Caller } from "../declare/caller.ts";
import { findEvents } from "../events/event-lookup.ts";
import type { StoredNames } from "../events/stored-names.ts";
import type { Report } from "../lib/report.ts";
import type { Store } from "../store/store.ts";
import type { VisibleEvents } from "../subscriptions/visible-events.ts";
import type { Message } from "./attempt.ts";
import type { DueDelivery } from "./delivery-queries.ts";
import type { OfEndpoint } from "./endpoint-queue.ts";

export interface MessageContext {
  readonly store: Store;
  readonly visible: VisibleEvents;
  readonly names: StoredNames;
  readonly report: Report;
}

/**
 * The messages of deliveries, or why there is none and will be none. A delivery that is missing may have one later.
 *
 * @param caller for whom the endpoint gets events
 */
export async function messagesOf(
  { store, names, visible, report }: MessageContext,
  { endpointId }: OfEndpoint,
  caller: Caller,
  due: readonly DueDelivery[],
): Promise<ReadonlyMap<DueDelivery, Message | string>> {
  const recorded = due.filter(({ payload }) => payload === null);
  const sequences = recorded.map(({ eventSequence }) => eventSequence);
  const found = await findEvents(store, names, sequences);
  const messages = new Map<DueDelivery, Message | string>();
  const rows = new Map<string, string>();
  try {
    for (const { event, row } of await visible.of(caller, [...found.values()])) rows.set(event.id, row);
  } catch (err) {
    report("the policies of a webhook endpoint cannot be evaluated", { endpoint: endpointId, err });
    return messages;
  }
  for (const delivery of due) {
    const { eventId: id, eventType: type, payload, createdAt, eventSequence } = delivery;
    const event = found.get(eventSequence);
    const data = payload ?? rows.get(id);
    const timestamp = event?.createdAt ?? createdAt;
    if (data !== undefined) messages.set(delivery, { id, type, timestamp, data });
    else messages.set(delivery, event ? hidden : "The event was deleted.");
  }
  return messages;
}

const hidden = "The endpoint may not see the row of this event any more.";
