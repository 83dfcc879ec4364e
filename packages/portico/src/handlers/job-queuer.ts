// Queues a call for each new event and each handler that selects it.

import { selectsType } from "../events/event-patterns.ts";
import { LeasedReader, type QueuedPart } from "../events/leased-reader.ts";
import { Position } from "../events/position.ts";
import type { RecordedEvent } from "../events/recorded-event.ts";
import type { StoredNames } from "../events/stored-names.ts";
import type { Pace } from "../jobs/pace.ts";
import type { Report } from "../lib/report.ts";
import { timestampOf } from "../lib/timestamp.ts";
import type { Transaction } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { patternOf } from "./declared-handlers.ts";
import { wakeQueue } from "./handler-queue.ts";
import { insertJobs } from "./job-writes.ts";
import { type RegisteredHandler, registeredHandlers } from "./registration.ts";
import { handlerReaderTable } from "./tables.ts";

/** Events whose calls one transaction adds. */
const maxEventsTogether = 50;
/** What queueing a call costs, in units of the pace. */
const unitsOfJob = 0.5;

export interface JobQueuerOptions {
  readonly store: Store;
  readonly names: StoredNames;
  readonly report: Report;
  readonly pace: Pace;
  /** Between an event and the first attempt. */
  readonly firstDelayMs: number;
  /** Called when calls were added. */
  readonly onAdded: () => void;
}

/** The events that a handler gets. */
interface Selected {
  readonly handler: string;
  readonly events: readonly RecordedEvent[];
}

export class JobQueuer {
  readonly #options: JobQueuerOptions;
  readonly #reader: LeasedReader;

  constructor(options: JobQueuerOptions) {
    this.#options = options;
    const { store, names, report, pace, onAdded } = options;
    this.#reader = new LeasedReader({
      ...{ store, names, report, pace },
      table: handlerReaderTable.name,
      start: () => this.#start(),
      partsOf: (events) => this.#partsOf(events),
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

  async #start(): Promise<Position | undefined> {
    const { store } = this.#options;
    const [first, ...others] = await registeredHandlers(store, store.database);
    return first && others.reduce((start, each) => Position.earliest(start, each.start), first.start);
  }

  async #partsOf(events: readonly RecordedEvent[]): Promise<readonly QueuedPart[]> {
    const { store } = this.#options;
    // Read for each batch: another process may just have registered one.
    const handlers = await registeredHandlers(store, store.database);
    const parts: QueuedPart[] = [];
    for (let first = 0; first < events.length; first += maxEventsTogether) {
      const part = events.slice(first, first + maxEventsTogether);
      const selected = handlers.map((handler) => ({
        handler: handler.name,
        events: part.filter((event) => isHandled(handler, event)),
      }));
      const count = selected.reduce((sum, each) => sum + each.events.length, 0);
      if (count === 0) continue;
      parts.push({
        until: part.at(-1)!.position,
        units: count * unitsOfJob,
        write: (session, now) => this.#insert(session, selected, now),
      });
    }
    return parts;
  }

  async #insert(session: Transaction, selected: readonly Selected[], now: number): Promise<void> {
    const { store, firstDelayMs } = this.#options;
    const times = { now: timestampOf(now), dueAt: timestampOf(now + firstDelayMs) };
    for (const { handler, events } of selected)
      for (const [tenantId, ofTenant] of Map.groupBy(events, (event) => event.tenantId)) {
        // Otherwise the tenant was deleted meanwhile.
        if ((await store.tenants.findNumber(session, tenantId)) === null) continue;
        const queue = { tenantId, handler };
        await wakeQueue(store).run(session, { ...queue, ...times });
        await insertJobs(store, session, queue, ofTenant, times);
      }
  }
}

function isHandled({ name, start }: RegisteredHandler, { position, type }: RecordedEvent): boolean {
  return position.isAfter(start) && selectsType([patternOf(name)], type);
}
