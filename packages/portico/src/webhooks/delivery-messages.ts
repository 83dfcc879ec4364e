// What deliveries send: the rows of their events, if the endpoint may still get them.

import type { Caller } from "../declare/caller.ts";
import { findEventSizes, findEvents } from "../events/event-lookup.ts";
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

/** What the messages of one look together have at most, unless the first alone has more. */
const maxBytesTogether = 1024 * 1024;

/** The sizes in bytes of the rows of the first deliveries, as many as are sent together. */
export async function sizesOfFirst(store: Store, due: readonly DueDelivery[]): Promise<readonly number[]> {
  if (due.length === 0) return [];
  const sequences = due.map(({ eventSequence }) => eventSequence);
  const bySequence = await findEventSizes(store, sequences);
  const sizes: number[] = [];
  let sum = 0;
  for (const { eventSequence, payload } of due) {
    const size = payload?.length ?? bySequence.get(eventSequence) ?? 0;
    sum += size;
    if (sizes.length > 0 && sum > maxBytesTogether) break;
    sizes.push(size);
  }
  return sizes;
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
  const undecided = new Set<string>();
  for (const [resource, events] of Map.groupBy(found.values(), (event) => event.resource))
    try {
      for (const { event, row } of await visible.of(caller, events)) rows.set(event.id, row);
    } catch (err) {
      report("a policy cannot be evaluated for a webhook endpoint", { endpoint: endpointId, resource, err });
      undecided.add(resource);
    }
  for (const delivery of due) {
    const { eventId: id, eventType: type, payload, createdAt, eventSequence } = delivery;
    const event = found.get(eventSequence);
    if (event && undecided.has(event.resource)) continue;
    const data = payload ?? rows.get(id);
    const timestamp = event?.createdAt ?? createdAt;
    if (data !== undefined) messages.set(delivery, { id, type, timestamp, data });
    else messages.set(delivery, event ? hidden : "The event was deleted.");
  }
  return messages;
}

const hidden = "The endpoint may no longer see the row of this event.";
