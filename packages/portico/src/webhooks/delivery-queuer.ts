// Adds a delivery for each new event and each endpoint that gets it.

import type { Principals } from "../auth/principal.ts";
import { selectsType } from "../events/event-patterns.ts";
import { LeasedReader, type QueuedPart } from "../events/leased-reader.ts";
import type { RecordedEvent } from "../events/recorded-event.ts";
import type { StoredNames } from "../events/stored-names.ts";
import type { Pace } from "../jobs/pace.ts";
import type { Report } from "../lib/report.ts";
import { timestampOf } from "../lib/timestamp.ts";
import type { Transaction } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import type { VisibleEvents } from "../subscriptions/visible-events.ts";
import { type NewDelivery, newDelivery } from "./delivery-queries.ts";
import { insertDeliveries } from "./delivery-writes.ts";
import { enabledEndpoints, firstStart, type Target } from "./endpoint-queries.ts";
import { wakeQueue } from "./endpoint-queue.ts";
import { webhookReaderTable } from "./reader-table.ts";

/** Deliveries that one transaction adds: the events of a batch are divided, but not those of one event. */
const maxDeliveriesTogether = 100;
/** What adding a delivery costs, in units of the pace: a delivery that is sent costs one. */
const unitsOfDelivery = 0.5;

export interface DeliveryQueuerOptions {
  readonly store: Store;
  readonly principals: Pick<Principals, "current">;
  readonly visible: VisibleEvents;
  readonly names: StoredNames;
  readonly report: Report;
  readonly pace: Pace;
  /** Between an event and the first attempt. */
  readonly firstDelayMs: number;
  /** Called when deliveries were added. */
  readonly onAdded: () => void;
}

/** The deliveries of an endpoint. */
interface Selected {
  readonly target: Target;
  readonly deliveries: readonly NewDelivery[];
}

export class DeliveryQueuer {
  readonly #options: DeliveryQueuerOptions;
  readonly #reader: LeasedReader;

  constructor(options: DeliveryQueuerOptions) {
    this.#options = options;
    const { store, names, report, pace, onAdded } = options;
    this.#reader = new LeasedReader({
      ...{ store, names, report, pace },
      table: webhookReaderTable.name,
      start: () => firstStart(store),
      partsOf: async (events) => this.#partsOf(await this.#select(events), events),
      onWritten: onAdded,
    });
  }

  /** Reads all new events, if this process has the lease or can take it. Call it periodically, one call at a time. */
  poll(signal: AbortSignal): Promise<void> {
    return this.#reader.poll(signal);
  }

  /** Lets another process continue at once. */
  stop(): Promise<void> {
    return this.#reader.stop();
  }

  async #select(events: readonly RecordedEvent[]): Promise<readonly Selected[]> {
    const selected: Selected[] = [];
    for (const [tenantId, ofTenant] of Map.groupBy(events, (event) => event.tenantId))
      for (const targets of await this.#targetsByPrincipal(tenantId)) {
        const wanted = targets.map((target) => ofTenant.filter((event) => isWanted(target, event)));
        const union = new Set(wanted.flat());
        if (union.size === 0) continue;
        const visible = await this.#visible(
          targets[0]!,
          ofTenant.filter((event) => union.has(event)),
        );
        for (const [index, target] of targets.entries()) {
          const deliveries = wanted[index]!.filter((event) => visible.has(event)).map(newDelivery);
          if (wanted[index]!.length > 0) selected.push({ target, deliveries });
        }
      }
    return selected;
  }

  /** The enabled endpoints of a tenant. Those of one principal see the same events. */
  async #targetsByPrincipal(tenantId: string): Promise<Iterable<readonly Target[]>> {
    const { store } = this.#options;
    const targets = await enabledEndpoints(store, store.database, tenantId);
    return Map.groupBy(targets, ({ principal }) => JSON.stringify(principal)).values();
  }

  /** The events that the principal of an endpoint sees. */
  async #visible(
    { endpointId, principal }: Target,
    events: readonly RecordedEvent[],
  ): Promise<ReadonlySet<RecordedEvent>> {
    const { visible, principals, report } = this.#options;
    const caller = await principals.current(principal);
    // The process that sends finds that out too, and disables the endpoint.
    if (!caller) return new Set();
    const seen = new Set<RecordedEvent>();
    for (const [resource, ofResource] of Map.groupBy(events, (event) => event.resource))
      try {
        for (const { event } of await visible.of(caller, ofResource)) seen.add(event);
      } catch (err) {
        // They are checked again before they are sent, so nothing is shown that must not be.
        report("a policy cannot be evaluated for a webhook endpoint", {
          endpoint: endpointId,
          resource,
          err,
        });
        for (const event of ofResource) seen.add(event);
      }
    return seen;
  }

  #partsOf(selected: readonly Selected[], events: readonly RecordedEvent[]): readonly QueuedPart[] {
    if (selected.length === 0) return [];
    const counts = new Map<number, number>();
    for (const { eventSequence } of selected.flatMap(({ deliveries }) => deliveries))
      counts.set(eventSequence, (counts.get(eventSequence) ?? 0) + 1);
    const parts: QueuedPart[] = [];
    let first = 0;
    let count = 0;
    for (const [index, { position }] of events.entries()) {
      count += counts.get(position.sequence) ?? 0;
      const isLast = index === events.length - 1;
      if (!isLast && count < maxDeliveriesTogether) continue;
      const part = new Set(events.slice(first, index + 1).map((event) => event.position.sequence));
      const ofPart = selected.map(({ target, deliveries }) => ({
        target,
        deliveries: deliveries.filter(({ eventSequence }) => part.has(eventSequence)),
      }));
      parts.push({
        until: position,
        units: count * unitsOfDelivery,
        write: (session, now) => this.#insert(session, ofPart, now),
      });
      first = index + 1;
      count = 0;
    }
    return parts;
  }

  async #insert(session: Transaction, selected: readonly Selected[], now: number): Promise<void> {
    const { store, firstDelayMs } = this.#options;
    const times = { now: timestampOf(now), dueAt: timestampOf(now + firstDelayMs) };
    for (const { target, deliveries } of selected) {
      const endpoint = endpointOf(target);
      const queue = await wakeQueue(store).first(session, { ...endpoint, dueAt: times.dueAt });
      if (queue && deliveries.length > 0) await insertDeliveries(store, session, endpoint, deliveries, times);
    }
  }
}

function isWanted({ start, eventTypes }: Target, { position, type }: RecordedEvent): boolean {
  return start.isBefore(position) && selectsType(eventTypes, type);
}

function endpointOf({ tenantId, endpointId }: Target) {
  return { tenantId, endpointId };
}
