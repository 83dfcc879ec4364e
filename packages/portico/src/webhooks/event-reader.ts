// Adds a delivery for each new event and each endpoint that gets it. One process at a time reads the events, in their
// order, from a position in the database: it holds a lease, and a batch of deliveries and the position after it are one
// transaction. So no event is passed over when a process dies, and none is delivered by two.

import type { Principals } from "../auth/principal.ts";
import { afterPosition, maxBatchSize, selectNew, storedEventOf } from "../events/event-queries.ts";
import { HorizonWait } from "../events/horizon-wait.ts";
import { Position } from "../events/position.ts";
import type { RecordedEvent } from "../events/recorded-event.ts";
import type { StoredNames } from "../events/stored-names.ts";
import type { Pace } from "../jobs/pace.ts";
import type { Report } from "../lib/report.ts";
import type { Store } from "../store/store.ts";
import type { VisibleEvents } from "../subscriptions/visible-events.ts";
import { type NewDelivery, newDelivery } from "./delivery-queries.ts";
import { insertDeliveries } from "./delivery-writes.ts";
import { enabledEndpoints, firstStart, type Target } from "./endpoint-queries.ts";
import { wakeQueue } from "./endpoint-queue.ts";
import { selectsType } from "./event-types.ts";
import { ReaderLease } from "./reader-lease.ts";

/** How often a process without the lease tries to take it, and looks for an endpoint if there is none. */
const idleMs = 250;
/** Deliveries that one transaction adds: the events of a batch are divided, but not those of one event. */
const maxDeliveriesTogether = 100;
/** What the work costs, in units of the pace: a delivery that is sent costs one. */
const unitsOfRead = 1;
const unitsOfEvent = 0.1;
const unitsOfDelivery = 0.5;

export interface EventReaderOptions {
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

export class EventReader {
  readonly #options: EventReaderOptions;
  readonly #lease: ReaderLease;
  readonly #wait: HorizonWait;
  /** While this process has the lease: the last event that was read, which may be after the stored position. */
  #position: Position | undefined;
  #idleUntil = 0;

  constructor(options: EventReaderOptions) {
    this.#options = options;
    this.#lease = new ReaderLease(options.store);
    this.#wait = new HorizonWait(options.store, options.report, {
      foreignLookupMs: 1_000,
      longWaitMs: 10_000,
    });
  }

  /** Reads all new events, if this process has the lease or can take it. Call it periodically, one call at a time. */
  async poll(signal: AbortSignal): Promise<void> {
    const now = Date.now();
    if (now < this.#idleUntil) return;
    if (this.#lease.isEnding(now) && !(await this.#takeLease(now))) {
      this.#position = undefined;
      this.#idleUntil = now + idleMs;
      return;
    }
    while (!signal.aborted && (await this.#readBatch()));
  }

  /** Lets another process go on at once. */
  async stop(): Promise<void> {
    if (!this.#position) return;
    this.#position = undefined;
    await this.#lease.end();
  }

  /** @returns whether this process has the lease, and there is an endpoint to read for */
  async #takeLease(now: number): Promise<boolean> {
    const { store } = this.#options;
    const start = await firstStart(store);
    if (!start) return false;
    const stored = await this.#lease.take(now);
    if (!stored) return false;
    // Nobody gets the events before.
    this.#position = Position.latest(this.#position ?? stored, start);
    if (this.#position.isAfter(stored)) await this.#add([], this.#position);
    return true;
  }

  /** @returns whether there may be more events */
  async #readBatch(): Promise<boolean> {
    const { store, names, pace } = this.#options;
    await pace.take(unitsOfRead);
    const horizon = await this.#wait.horizon();
    const rows = await selectNew(store).all(store.database, { ...afterPosition(this.#position!), horizon });
    const complete = rows.filter(({ isComplete }) => isComplete);
    const incomplete = rows[complete.length];
    this.#wait.update(incomplete && `${incomplete.transactionId}-${incomplete.sequence}`);
    const events = complete.map((row) => names.currentEvent(storedEventOf(row)));
    if (events.length === 0) return false;
    pace.charge(events.length * unitsOfEvent);
    const selected = await this.#select(events);
    // Then the position is stored with the next extension of the lease.
    if (selected.length === 0) this.#position = events.at(-1)!.position;
    const isHeld = selected.length === 0 || (await this.#addInParts(selected, events));
    return isHeld && complete.length === maxBatchSize;
  }

  async #select(events: readonly RecordedEvent[]): Promise<readonly Selected[]> {
    const { store } = this.#options;
    const selected: Selected[] = [];
    for (const [tenantId, ofTenant] of Map.groupBy(events, (event) => event.tenantId))
      for (const target of await enabledEndpoints(store, store.database, tenantId)) {
        const wanted = ofTenant.filter(
          ({ position, type }) => target.start.isBefore(position) && selectsType(target.eventTypes, type),
        );
        if (wanted.length > 0) selected.push({ target, deliveries: await this.#visible(target, wanted) });
      }
    return selected;
  }

  /** The deliveries of the events that the endpoint gets. */
  async #visible(target: Target, events: readonly RecordedEvent[]): Promise<readonly NewDelivery[]> {
    const { visible, principals, report } = this.#options;
    try {
      const caller = await principals.current(target.principal);
      // The process that sends finds that out too, and disables the endpoint.
      if (!caller) return [];
      const shown = await visible.of(caller, events);
      return shown.map(({ event }) => newDelivery(event));
    } catch (err) {
      // They are checked again before they are sent, so nothing is shown that must not be.
      report("the policies of a webhook endpoint cannot be evaluated", { endpoint: target.endpointId, err });
      return events.map(newDelivery);
    }
  }

  /** @returns whether this process still has the lease */
  async #addInParts(selected: readonly Selected[], events: readonly RecordedEvent[]): Promise<boolean> {
    const counts = new Map<number, number>();
    for (const { eventSequence } of selected.flatMap(({ deliveries }) => deliveries))
      counts.set(eventSequence, (counts.get(eventSequence) ?? 0) + 1);
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
      if (!(await this.#add(ofPart, position))) return false;
      first = index + 1;
      count = 0;
    }
    return true;
  }

  async #add(selected: readonly Selected[], position: Position): Promise<boolean> {
    const { store, firstDelayMs, onAdded, pace } = this.#options;
    await pace.take(
      selected.reduce((units, { deliveries }) => units + deliveries.length * unitsOfDelivery, 0),
    );
    const now = Date.now();
    const isHeld = await store.transaction(async (session) => {
      if (!(await this.#lease.move(position, now, session))) return false;
      const times = { now: timestampOf(now), dueAt: timestampOf(now + firstDelayMs) };
      for (const { target, deliveries } of selected) {
        const endpoint = endpointOf(target);
        await wakeQueue(store).run(session, { ...endpoint, dueAt: times.dueAt });
        if (deliveries.length > 0) await insertDeliveries(store, session, endpoint, deliveries, times);
      }
      return true;
    });
    this.#position = isHeld ? position : undefined;
    if (!isHeld) this.#lease.lose();
    else if (selected.length > 0) onAdded();
    return isHeld;
  }
}

function endpointOf({ tenantId, endpointId }: Target) {
  return { tenantId, endpointId };
}

function timestampOf(time: number): string {
  return new Date(time).toISOString();
}
