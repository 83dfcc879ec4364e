// Delivers new events in the order of their positions, whichever process recorded them. The table is polled while there are
// listeners. Commits of this process and signals of others make the next poll immediate; the polling beneath needs
// neither.

import type { Report } from "../lib/report.ts";
import type { Store } from "../store/store.ts";
import {
  afterPosition,
  maxBatchSize,
  positionOf,
  rangeInput,
  selectNew,
  selectNewest,
  selectPositions,
  selectRange,
  storedEventOf,
} from "./event-queries.ts";
import { completePosition, nextTransactionOf } from "./horizon.ts";
import { HorizonWait, type WaitOptions } from "./horizon-wait.ts";
import { Position } from "./position.ts";
import { type EventTopic, PurgedEvents } from "./purged-events.ts";
import type { EventRange, RecordedEvent } from "./recorded-event.ts";
import { EventSignals } from "./signals.ts";
import type { StoredNames } from "./stored-names.ts";

/** Handles events in their order. The feed polls again when all listeners are done. */
export type Listener = (events: readonly RecordedEvent[]) => Promise<void>;

/** The minimum interval between the starts of two polls, however many commits there are. */
const minIntervalMs = 15;
const retryIntervalMs = 500;

export interface FeedOptions extends WaitOptions {
  /** Polling interval while other processes are not heard of, and while they are: by their notifications. */
  readonly pollMs: number;
  readonly notifiedPollMs: number;
}

const standardOptions: FeedOptions = {
  pollMs: 25,
  notifiedPollMs: 250,
  foreignLookupMs: 1_000,
  longWaitMs: 10_000,
};

export class EventFeed {
  readonly #store: Store;
  readonly #report: Report;
  readonly #names: StoredNames;
  readonly #options: FeedOptions;
  readonly #purged: PurgedEvents;
  readonly #listeners = new Set<Listener>();
  /** Events up to this one have been passed to the listeners; undefined while there are no listeners. */
  #position: Position | undefined;
  readonly #wait: HorizonWait;
  readonly #signals: EventSignals;
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;
  #polledAt = Number.NEGATIVE_INFINITY;
  /** Whether events may have been committed after the current poll has read. */
  #isWoken = false;

  constructor(store: Store, report: Report, names: StoredNames, options: Partial<FeedOptions> = {}) {
    this.#store = store;
    this.#names = names;
    this.#report = report;
    this.#options = { ...standardOptions, ...options };
    this.#purged = new PurgedEvents(store);
    this.#wait = new HorizonWait(store, report, this.#options);
    this.#signals = new EventSignals(store, () => this.#wake());
    store.commits.listen(() => {
      this.#signals.announce();
      this.#wake();
    });
  }

  /** Calls `listener` with every event from now on. @returns a function that removes the listener */
  async listen(listener: Listener): Promise<() => void> {
    this.#position ??= await this.#startPosition();
    this.#listeners.add(listener);
    this.#schedulePoll(0);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#pollNow();
    };
  }

  /** Events up to this one have been passed to the listeners. */
  get position(): Position {
    return this.#position ?? Position.start;
  }

  /** Events after `position` that are visible already. A listener that starts now has to skip them. */
  async visibleAfter(position: Position): Promise<ReadonlySet<string>> {
    const rows = await selectPositions(this.#store).all(this.#store.database, afterPosition(position));
    return new Set(rows.map((row) => positionOf(row).toString()));
  }

  /**
   * Where to resume after an event whose id a client has kept.
   *
   * @returns undefined if there is no such event yet
   */
  async resumedAt(position: Position): Promise<Position | undefined> {
    const newest = await selectNewest(this.#store).first(this.#store.database);
    if (position.sequence > (newest?.sequence ?? 0)) return undefined;
    const isKnown = position.transactionId === 0 || (await this.#hasBegun(position));
    if (isKnown) return position;
    // The database was restored from a dump since: the events of the dump have no transactions.
    return position.sequence === 0 ? undefined : new Position(0, position.sequence);
  }

  /** Whether the database has had this transaction, or, for a position before its events, will have it next. */
  async #hasBegun({ transactionId, sequence }: Position): Promise<boolean> {
    const next = await nextTransactionOf(this.#store);
    return sequence === 0 ? transactionId <= next : transactionId < next;
  }

  /** Reads delivered events again, oldest first, within bounds. */
  async readRange(range: EventRange): Promise<readonly RecordedEvent[]> {
    const stored = { ...range, resource: this.#names.storedName(range.resource) };
    const rows = await selectRange(this.#store).all(this.#store.database, rangeInput(stored));
    return rows.map((row) => this.#names.currentEvent(storedEventOf(row)));
  }

  /** Reports an event that cannot be parsed, and is skipped. */
  skip({ position: { sequence } }: RecordedEvent, err: unknown): void {
    this.#report("an event cannot be parsed and is skipped", { sequence, err });
  }

  /** The position of the last purged event of a topic; the start if none was purged. */
  lastPurged({ tenantId, resource }: EventTopic): Promise<Position> {
    return this.#purged.last({ tenantId, resource: this.#names.storedName(resource) });
  }

  async #startPosition(): Promise<Position> {
    const position = await completePosition(this.#store);
    // Another listener may have started in the meantime.
    return this.#position ?? position;
  }

  /** Polls as soon as the interval between polls allows. */
  #wake(): void {
    if (this.#listeners.size === 0 || this.#isWoken) return;
    this.#isWoken = true;
    this.#pollNow();
  }

  #pollNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#schedulePoll(0);
  }

  #schedulePoll(delayMs: number): void {
    if (this.#isPolling || this.#timer) return;
    const nextMs = this.#polledAt + minIntervalMs - performance.now();
    const dueMs = Math.max(this.#isWoken ? 0 : delayMs, nextMs);
    this.#timer = setTimeout(() => {
      this.#poll().catch((err: unknown) => this.#reportUnreadable(err));
    }, dueMs);
  }

  async #poll(): Promise<void> {
    this.#timer = undefined;
    const position = this.#position;
    if (!position || this.#listeners.size === 0) {
      // The next listener starts with the events recorded then.
      this.#position = undefined;
      this.#signals.stopListening();
      return;
    }
    this.#isPolling = true;
    this.#isWoken = false;
    this.#polledAt = performance.now();
    this.#signals.ensureListening();
    let delayMs: number;
    try {
      delayMs = await this.#deliver(position);
    } catch (error) {
      this.#reportUnreadable(error);
      delayMs = retryIntervalMs;
      this.#isWoken = false;
    }
    this.#isPolling = false;
    // The last listener may have ended during the poll.
    this.#schedulePoll(this.#listeners.size === 0 ? 0 : delayMs);
  }

  #reportUnreadable(err: unknown): void {
    this.#report("events cannot be read; retrying", { err });
  }

  /** Reads new events and passes them to the listeners. @returns the delay until the next poll */
  async #deliver(position: Position): Promise<number> {
    const horizon = await this.#wait.horizon();
    const rows = await selectNew(this.#store).all(this.#store.database, {
      ...afterPosition(position),
      horizon,
    });
    const complete = rows.filter(({ isComplete }) => isComplete);
    if (complete.length > 0) {
      const events = complete.map((row) => this.#names.currentEvent(storedEventOf(row)));
      this.#position = events.at(-1)!.position;
      await Promise.all([...this.#listeners].map((listener) => listener(events)));
    }
    if (complete.length === maxBatchSize) {
      this.#polledAt = Number.NEGATIVE_INFINITY;
      return 0;
    }
    return this.#delayBefore(rows[complete.length]);
  }

  /** @param incomplete the first event that waits for an earlier transaction; undefined if none does */
  #delayBefore(incomplete: Parameters<typeof positionOf>[0] | undefined): number {
    this.#wait.update(incomplete && positionOf(incomplete).toString());
    if (incomplete) return this.#wait.pollDelayMs;
    const { pollMs, notifiedPollMs } = this.#options;
    return this.#signals.isEstablished ? notifiedPollMs : pollMs;
  }
}
