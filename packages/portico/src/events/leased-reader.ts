// Queues work for new events: deliveries to webhook endpoints, calls of handlers. One process at a time reads the events,
// in their order, from a position in the database: it holds a lease, and a batch of work and the position after it are one
// transaction. So no event is passed over when a process dies, and none is queued by two.

import type { Pace } from "../jobs/pace.ts";
import type { Report } from "../lib/report.ts";
import type { Transaction } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { afterPosition, maxBatchSize, selectNew, storedEventOf } from "./event-queries.ts";
import { HorizonWait } from "./horizon-wait.ts";
import { Position } from "./position.ts";
import { ReaderLease } from "./reader-lease.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import type { StoredNames } from "./stored-names.ts";

/** How often a process without the lease tries to take it, and looks for a reason to read if there is none. */
const idleMs = 250;
/** What the work costs, in units of the pace. */
const unitsOfRead = 1;
const unitsOfEvent = 0.1;

/** Work for some of the events of a batch. */
export interface QueuedPart {
  /** The position of the last of these events. */
  readonly until: Position;
  /** What queueing costs, in units of the pace. */
  readonly units: number;
  /** Queues the work in the transaction that moves the position. @param now milliseconds since 1970 */
  write(session: Transaction, now: number): Promise<void>;
}

export interface LeasedReaderOptions {
  readonly store: Store;
  readonly names: StoredNames;
  readonly report: Report;
  readonly pace: Pace;
  /** The name of a table of `readerTable`. */
  readonly table: string;
  /** The position before which nobody needs events; undefined if nobody needs any. */
  start(): Promise<Position | undefined>;
  /** The work for events, in parts that are written one after another; none if there is nothing to do. */
  partsOf(events: readonly RecordedEvent[]): Promise<readonly QueuedPart[]>;
  /** Called when a part was written. */
  onWritten(): void;
}

export class LeasedReader {
  readonly #options: LeasedReaderOptions;
  readonly #lease: ReaderLease;
  readonly #wait: HorizonWait;
  /** While this process has the lease: the last event that was read, which may be after the stored position. */
  #position: Position | undefined;
  #idleUntil = 0;

  constructor(options: LeasedReaderOptions) {
    this.#options = options;
    this.#lease = new ReaderLease(options.store, options.table);
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

  /** Lets another process continue at once. */
  async stop(): Promise<void> {
    if (!this.#position) return;
    this.#position = undefined;
    await this.#lease.end();
  }

  /** @returns whether this process has the lease, and somebody needs events */
  async #takeLease(now: number): Promise<boolean> {
    const start = await this.#options.start();
    if (!start) return false;
    const stored = await this.#lease.take(now);
    if (!stored) return false;
    // Another process may have read on while this one was suspended. Nobody gets the events before the start.
    const position = Position.latest(Position.latest(this.#position ?? stored, stored), start);
    this.#position = position;
    return !position.isAfter(stored) || this.#move(position, async () => {});
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
    const parts = await this.#options.partsOf(events);
    for (const part of parts) if (!(await this.#write(part))) return false;
    // If that is after the last part, it is stored with the next one, or the next extension of the lease.
    this.#position = events.at(-1)!.position;
    return complete.length === maxBatchSize;
  }

  /** @returns whether this process still has the lease */
  async #write({ until, units, write }: QueuedPart): Promise<boolean> {
    const { pace, onWritten } = this.#options;
    await pace.take(units);
    const isHeld = await this.#move(until, write);
    if (isHeld) onWritten();
    return isHeld;
  }

  async #move(position: Position, write: QueuedPart["write"]): Promise<boolean> {
    const now = Date.now();
    // If the transaction fails, it may have been committed all the same: then only the database knows the position.
    this.#position = undefined;
    this.#lease.lose();
    const isHeld = await this.#options.store.transaction(async (session) => {
      if (!(await this.#lease.move(position, now, session))) return false;
      await write(session, now);
      return true;
    });
    if (!isHeld) return false;
    this.#position = position;
    this.#lease.extended(now);
    return true;
  }
}
