// Delivers new events in the order of their sequence numbers, whichever process recorded them. The table is polled while
// there are listeners, which works on both databases and needs nothing else.

import { sql } from "kysely";
import type { Report } from "../lib/report.ts";
import type { Statement } from "../store/database.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import { compile } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import { eventsTable } from "./event.ts";
import { type EventTopic, PurgedEvents } from "./purged-events.ts";
import type { EventRange, RecordedEvent } from "./recorded-event.ts";
import { SequenceGaps } from "./sequence-gaps.ts";
import type { StoredNames } from "./stored-names.ts";

/** Handles events in their order. The feed polls again when all listeners are done. */
export type Listener = (events: readonly RecordedEvent[]) => Promise<void>;

const pollIntervalMs = 25;
/** Polling interval while a gap is pending. It grows with the wait. */
const gapPollIntervalMs = { min: 5, max: 100 };
const retryIntervalMs = 500;
/** Events that one poll reads. If there are more, the next poll follows immediately. */
const maxBatchSize = 250;
/** Bounds of `readRange`. A range always has at least one event, whatever its size. */
const maxRangeSize = 32;
const maxRangeBytes = 256 * 1024;
/** How far before the newest number the feed starts if transactions are in progress: theirs can be lower. */
const overlap = 1_000;

const columns = [
  "sequence",
  "tenant_no as tenantId",
  "resource",
  "kind",
  "row_id as rowId",
  "row",
  "deleted_parents as deletedParents",
] as const;

const selectNew = defineQuery([eventsTable], (db, { position }: ParametersOf<{ position: number }>) =>
  db
    .selectFrom("events")
    .select(columns)
    .where("sequence", ">", position)
    .orderBy("sequence")
    .limit(sql.lit(maxBatchSize)),
);

const selectSequences = defineQuery([eventsTable], (db, { position }: ParametersOf<{ position: number }>) =>
  db.selectFrom("events").select("sequence").where("sequence", ">", position).orderBy("sequence"),
);

const selectRange = defineQuery(
  [eventsTable],
  (db, range: ParametersOf<EventRange>) => {
    const next = db
      .selectFrom("events")
      .select(["sequence", sql<number>`octet_length(cast("row" as text))`.as("bytes")])
      .where("tenant_no", "=", range.tenantId)
      .where("resource", "=", range.resource)
      .where("sequence", ">", range.after)
      .where("sequence", "<=", range.until)
      .orderBy("sequence")
      .limit(sql.lit(maxRangeSize));
    const sized = db
      .selectFrom(next.as("next"))
      .select(["sequence", sql<number>`sum(bytes) over (order by sequence) - bytes`.as("bytes_before")]);
    const fitting = db
      .selectFrom(sized.as("sized"))
      .select("sequence")
      .where("bytes_before", "<", sql.lit(maxRangeBytes));
    return db.selectFrom("events").select(columns).where("sequence", "in", fitting).orderBy("sequence");
  },
  // Many subscribers can read ranges at the same time, so these reads are queued by tenant.
  { mayScan: true, tenantOf },
);

const selectNewest = defineQuery([eventsTable], (db) =>
  db.selectFrom("events").select(({ fn }) => fn.max("sequence").as("sequence")),
);

export class EventFeed {
  readonly #store: Store;
  readonly #report: Report;
  readonly #names: StoredNames;
  /** Selects the transactions that write events; undefined on SQLite, which has one writer. */
  readonly #selectWriters: Statement<undefined> | undefined;
  readonly #purged: PurgedEvents;
  readonly #listeners = new Set<Listener>();
  /** The position, and the gaps before the newest number; undefined while there are no listeners. */
  #gaps: SequenceGaps | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;

  constructor(store: Store, report: Report, names: StoredNames) {
    this.#store = store;
    this.#names = names;
    this.#report = report;
    this.#purged = new PurgedEvents(store);
    // On SQLite, numbers become visible in their order.
    this.#selectWriters = store.database.isRemote ? compile(store.dialect.builder, selectWriters) : undefined;
  }

  /** Calls `listener` with every event from now on. @returns a function that removes the listener */
  async listen(listener: Listener): Promise<() => void> {
    this.#gaps ??= await this.#startPosition();
    this.#listeners.add(listener);
    this.#schedulePoll(pollIntervalMs);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Events up to this number have been passed to the listeners. */
  get position(): number {
    return this.#gaps?.position ?? 0;
  }

  /** Numbers after `position` that are visible already. A listener that starts now has to skip them. */
  async visibleAfter(position: number): Promise<ReadonlySet<number>> {
    const rows = await selectSequences(this.#store).all(this.#store.database, { position });
    return new Set(rows.map(({ sequence }) => sequence));
  }

  /** Reads delivered events again, oldest first, within bounds. */
  async readRange(range: EventRange): Promise<readonly RecordedEvent[]> {
    const stored = { ...range, resource: this.#names.storedName(range.resource) };
    const rows = await selectRange(this.#store).all(this.#store.database, stored);
    return rows.map((row) => this.#names.currentEvent(row));
  }

  /** Reports an event that cannot be parsed, and is skipped. */
  skip({ sequence }: RecordedEvent, err: unknown): void {
    this.#report("an event cannot be parsed and is skipped", { sequence, err });
  }

  /** The number of the last purged event of a topic; 0 if none was purged. */
  lastPurged({ tenantId, resource }: EventTopic): Promise<number> {
    return this.#purged.last({ tenantId, resource: this.#names.storedName(resource) });
  }

  async #startPosition(): Promise<SequenceGaps> {
    const row = await selectNewest(this.#store).first(this.#store.database);
    const newest = row?.sequence ?? 0;
    const isAnyActive = (await this.#activeWriters()).length > 0;
    // Another listener may have started in the meantime.
    return this.#gaps ?? new SequenceGaps(isAnyActive ? Math.max(0, newest - overlap) : newest);
  }

  async #activeWriters(): Promise<readonly string[]> {
    if (!this.#selectWriters) return [];
    const rows = await this.#store.database.query(this.#selectWriters, undefined);
    return rows.map(([writer]) => String(writer));
  }

  #schedulePoll(delayMs: number): void {
    if (this.#isPolling || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#poll().catch((err: unknown) => this.#reportUnreadable(err));
    }, delayMs);
  }

  async #poll(): Promise<void> {
    this.#timer = undefined;
    const gaps = this.#gaps;
    if (!gaps || this.#listeners.size === 0) {
      // The next listener starts with the events recorded then.
      this.#gaps = undefined;
      return;
    }
    this.#isPolling = true;
    let delayMs = pollIntervalMs;
    try {
      delayMs = await this.#deliver(gaps);
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
  async #deliver(gaps: SequenceGaps): Promise<number> {
    // Writers first: what a writer that has ended by now wrote is visible to the read that follows.
    if (gaps.isWaiting && !gaps.update(await this.#activeWriters())) return gapPollDelay(gaps);
    const rows = await selectNew(this.#store).all(this.#store.database, { position: gaps.position });
    if (rows.length === 0) return pollIntervalMs;
    const events = rows.map((row) => this.#names.currentEvent(row));
    const numbers = events.map(({ sequence }) => sequence);
    let count = gaps.advance(numbers);
    if (count < numbers.length && !gaps.isWaiting) {
      gaps.waitFor(numbers.at(-1)!, await this.#activeWriters());
      // With one writer, no lower number can become visible later.
      if (!this.#selectWriters) count += gaps.advance(numbers.slice(count));
    }
    const delivered = events.slice(0, count);
    if (count > 0) await Promise.all([...this.#listeners].map((listener) => listener(delivered)));
    if (count < rows.length) return gaps.isWaiting ? gapPollDelay(gaps) : 0;
    return rows.length === maxBatchSize ? 0 : pollIntervalMs;
  }
}

function tenantOf({ tenantId }: EventRange): string {
  return tenantId;
}

/** A tenth of the time that the gap has been pending. */
function gapPollDelay({ waitedMs }: SequenceGaps): number {
  return Math.min(Math.max(waitedMs / 10, gapPollIntervalMs.min), gapPollIntervalMs.max);
}

/** A transaction that writes to the table holds this lock until its end. */
const selectWriters = sql`select virtualtransaction from pg_locks
  where locktype = 'relation' and relation = 'events'::regclass and mode = 'RowExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database())`;
