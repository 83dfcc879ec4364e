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
import { horizonOf, nextTransactionOf, ownerOf } from "./horizon.ts";
import { Position } from "./position.ts";
import { type EventTopic, PurgedEvents } from "./purged-events.ts";
import type { EventRange, RecordedEvent } from "./recorded-event.ts";
import type { StoredNames } from "./stored-names.ts";

/** Handles events in their order. The feed polls again when all listeners are done. */
export type Listener = (events: readonly RecordedEvent[]) => Promise<void>;

const pollIntervalMs = 25;
/** Polling interval while visible events wait for earlier transactions. It grows with the wait. */
const waitingPollIntervalMs = { min: 5, max: 100 };
const retryIntervalMs = 500;

export interface FeedOptions {
  /** How long events wait before transactions of other databases are looked up, which costs two statements a poll. */
  readonly foreignLookupMs: number;
  /** How long events wait for a transaction before that is reported. */
  readonly longWaitMs: number;
}

const standardOptions: FeedOptions = { foreignLookupMs: 1_000, longWaitMs: 10_000 };

/** The visible events from one on wait for an earlier transaction. */
interface Wait {
  readonly first: string;
  readonly since: number;
  isReported: boolean;
}

export class EventFeed {
  readonly #store: Store;
  readonly #report: Report;
  readonly #names: StoredNames;
  readonly #options: FeedOptions;
  readonly #purged: PurgedEvents;
  readonly #listeners = new Set<Listener>();
  /** Events up to this one have been passed to the listeners; undefined while there are no listeners. */
  #position: Position | undefined;
  #wait: Wait | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;

  constructor(store: Store, report: Report, names: StoredNames, options: FeedOptions = standardOptions) {
    this.#store = store;
    this.#names = names;
    this.#report = report;
    this.#options = options;
    this.#purged = new PurgedEvents(store);
  }

  /** Calls `listener` with every event from now on. @returns a function that removes the listener */
  async listen(listener: Listener): Promise<() => void> {
    this.#position ??= await this.#startPosition();
    this.#listeners.add(listener);
    this.#schedulePoll(pollIntervalMs);
    return () => {
      this.#listeners.delete(listener);
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
    const isKnown =
      position.transactionId === 0 || position.transactionId < (await nextTransactionOf(this.#store));
    // The database was restored from a dump since: the events of the dump have no transactions.
    return isKnown ? position : new Position(0, position.sequence);
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
    const position = await this.#presentPosition();
    // Another listener may have started in the meantime.
    return this.#position ?? position;
  }

  async #presentPosition(): Promise<Position> {
    if (this.#store.database.isRemote) return Position.before(await horizonOf(this.#store));
    const newest = await selectNewest(this.#store).first(this.#store.database);
    return new Position(0, newest?.sequence ?? 0);
  }

  #schedulePoll(delayMs: number): void {
    if (this.#isPolling || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#poll().catch((err: unknown) => this.#reportUnreadable(err));
    }, delayMs);
  }

  async #poll(): Promise<void> {
    this.#timer = undefined;
    const position = this.#position;
    if (!position || this.#listeners.size === 0) {
      // The next listener starts with the events recorded then.
      this.#position = undefined;
      return;
    }
    this.#isPolling = true;
    let delayMs = pollIntervalMs;
    try {
      delayMs = await this.#deliver(position);
    } catch (error) {
      this.#reportUnreadable(error);
      delayMs = retryIntervalMs;
    }
    this.#isPolling = false;
    this.#schedulePoll(delayMs);
  }

  #reportUnreadable(err: unknown): void {
    this.#report("events cannot be read; retrying", { err });
  }

  /** Reads new events and passes them to the listeners. @returns the delay until the next poll */
  async #deliver(position: Position): Promise<number> {
    const horizon = await this.#horizon();
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
    if (complete.length === maxBatchSize) return 0;
    return this.#delayBefore(rows[complete.length]);
  }

  /** Transactions before this one have ended; 0 where that is not known yet. */
  async #horizon(): Promise<number> {
    const { foreignLookupMs, longWaitMs } = this.#options;
    const wait = this.#wait;
    if (!wait || waitedMs(wait) < foreignLookupMs) return 0;
    const horizon = await horizonOf(this.#store);
    if (waitedMs(wait) >= longWaitMs && !wait.isReported) {
      wait.isReported = true;
      const seconds = Math.round(waitedMs(wait) / 1000);
      const owner = await ownerOf(this.#store, horizon);
      const details = { seconds, transaction: horizon, ...owner };
      this.#report("events wait for a transaction that has not ended", details);
    }
    return horizon;
  }

  /** @param incomplete the first event that waits; undefined if none does */
  #delayBefore(
    incomplete: { readonly transactionId: number; readonly sequence: number } | undefined,
  ): number {
    if (!incomplete) {
      this.#wait = undefined;
      return pollIntervalMs;
    }
    const first = positionOf(incomplete).toString();
    if (this.#wait?.first !== first) this.#wait = { first, since: performance.now(), isReported: false };
    const { min, max } = waitingPollIntervalMs;
    return Math.min(Math.max(waitedMs(this.#wait) / 10, min), max);
  }
}

function waitedMs({ since }: Wait): number {
  return performance.now() - since;
}
