// New events as they are recorded, by any protocol and any process on the database, in the order of their numbers. The
// table is looked at while somebody listens: that needs nothing but the table, on both databases.

import { sql } from "kysely";
import type { Statement } from "../store/database.ts";
import { defineQuery, type ParametersOf, type QueryRow } from "../store/own-tables/query.ts";
import { compile } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import { eventsTable } from "./event.ts";
import { currentEventType } from "./event-type.ts";
import { type EventTopic, PurgedEvents } from "./purged-events.ts";
import type { EventRange, RecordedEvent } from "./recorded-event.ts";
import { SequenceGaps } from "./sequence-gaps.ts";

/** Takes events in their order. The next ones are not looked for before it is done with these. */
export type Listener = (events: readonly RecordedEvent[]) => Promise<void>;

const pollIntervalMs = 25;
/** Sooner where something waits for a transaction to end, and later again for one that takes long. */
const pendingPollIntervalMs = { least: 5, most: 100 };
const retryIntervalMs = 500;
/** Events read at once; the rest follows at once, too. */
const maxBatchSize = 250;
/** Events that are read again at once, for one of many who missed some; more than one only up to so many bytes. */
const maxRangeSize = 32;
const maxBytesOfStretch = 256 * 1024;
/** Numbers below the newest of which some may still come when the first one listens. */
const lookBehind = 1_000;

const columns = ["sequence", "tenant_id as tenantId", "resource", "kind", "row_id as rowId", "row"] as const;

type EventRow = QueryRow<typeof selectNew>;

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
      .where("tenant_id", "=", range.tenantId)
      .where("resource", "=", range.resource)
      .where("sequence", ">", range.after)
      .where("sequence", "<=", range.until)
      .orderBy("sequence")
      .limit(sql.lit(maxRangeSize));
    const weighed = db
      .selectFrom(next.as("next"))
      .select(["sequence", sql<number>`sum(bytes) over (order by sequence) - bytes`.as("bytes_before")]);
    const fitting = db
      .selectFrom(weighed.as("weighed"))
      .select("sequence")
      .where("bytes_before", "<", sql.lit(maxBytesOfStretch));
    return db.selectFrom("events").select(columns).where("sequence", "in", fitting).orderBy("sequence");
  },
  // Many can ask for much at once: beside all other reads, and tenants take turns.
  { mayScan: true, tenantOf },
);

const selectNewest = defineQuery([eventsTable], (db) =>
  db.selectFrom("events").select(({ fn }) => fn.max("sequence").as("sequence")),
);

export class EventFeed {
  readonly #store: Store;
  readonly #onError: (error: unknown) => void;
  /** The transactions that write events; undefined where there is one writer at a time. */
  readonly #writers: Statement<undefined> | undefined;
  readonly #purged: PurgedEvents;
  readonly #listeners = new Set<Listener>();
  /** What was told so far; unknown while nobody listens. */
  #gaps: SequenceGaps | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;

  /** @param onError is told when the table cannot be read; the feed tries again */
  constructor(store: Store, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
    this.#purged = new PurgedEvents(store);
    // SQLite has one writer, whose numbers are seen in their order.
    this.#writers = store.database.isRemote ? compile(store.dialect.builder, writersOfEvents) : undefined;
  }

  /** Calls `listener` with every event from now on. @returns what ends it */
  async listen(listener: Listener): Promise<() => void> {
    this.#gaps ??= await this.#start();
    this.#listeners.add(listener);
    this.#schedulePoll(pollIntervalMs);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** All events up to this number are told, or being told. */
  get position(): number {
    return this.#gaps?.position ?? 0;
  }

  /** The numbers after `told` that can be seen already: whoever begins now has no interest in them. */
  async visibleAfter(position: number): Promise<ReadonlySet<number>> {
    const rows = await selectSequences(this.#store).all(this.#store.database, { position });
    return new Set(rows.map(({ sequence }) => sequence));
  }

  /** Events that were told before, oldest first; some at most. */
  async readRange(range: EventRange): Promise<readonly RecordedEvent[]> {
    const rows = await selectRange(this.#store).all(this.#store.database, range);
    return rows.map(eventOf);
  }

  /** Reports an event that cannot be read, and is told to nobody. */
  skip({ sequence }: RecordedEvent, cause: unknown): void {
    this.#onError(new Error(`the event ${sequence} cannot be read and is left out`, { cause }));
  }

  /** The last event of a topic that is kept no longer; 0 where all are. */
  lastPurged(topic: EventTopic): Promise<number> {
    return this.#purged.last(topic);
  }

  async #start(): Promise<SequenceGaps> {
    const row = await selectNewest(this.#store).first(this.#store.database);
    const newest = row?.sequence ?? 0;
    const isUnderWay = (await this.#writing()).length > 0;
    // Somebody else may have begun meanwhile.
    return this.#gaps ?? new SequenceGaps(isUnderWay ? Math.max(0, newest - lookBehind) : newest);
  }

  async #writing(): Promise<readonly string[]> {
    if (!this.#writers) return [];
    const rows = await this.#store.database.query(this.#writers, undefined);
    return rows.map(([writer]) => String(writer));
  }

  #schedulePoll(delayMs: number): void {
    if (this.#isPolling || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#poll().catch(this.#onError);
    }, delayMs);
  }

  async #poll(): Promise<void> {
    this.#timer = undefined;
    const gaps = this.#gaps;
    if (!gaps || this.#listeners.size === 0) {
      // Whoever listens next begins with what is recorded then.
      this.#gaps = undefined;
      return;
    }
    this.#isPolling = true;
    let delayMs = pollIntervalMs;
    try {
      delayMs = await this.#deliverNew(gaps);
    } catch (error) {
      this.#onError(error);
      delayMs = retryIntervalMs;
    }
    this.#isPolling = false;
    this.#schedulePoll(delayMs);
  }

  /** @returns how long to wait before the next look */
  async #deliverNew(gaps: SequenceGaps): Promise<number> {
    // Before the events are read: what those who have ended by now wrote is seen then.
    if (gaps.isWaiting && !gaps.update(await this.#writing())) return pauseOfWait(gaps);
    const rows = await selectNew(this.#store).all(this.#store.database, { position: gaps.position });
    if (rows.length === 0) return pollIntervalMs;
    const events = rows.map(eventOf);
    const numbers = events.map(({ sequence }) => sequence);
    let count = gaps.advance(numbers);
    if (count < numbers.length && !gaps.isWaiting) {
      gaps.waitFor(numbers.at(-1)!, await this.#writing());
      // Of one writer nothing comes late.
      if (!this.#writers) count += gaps.advance(numbers.slice(count));
    }
    const delivered = events.slice(0, count);
    if (count > 0) await Promise.all([...this.#listeners].map((listener) => listener(delivered)));
    if (count < rows.length) return gaps.isWaiting ? pauseOfWait(gaps) : 0;
    return rows.length === maxBatchSize ? 0 : pollIntervalMs;
  }
}

function tenantOf({ tenantId }: EventRange): string {
  return tenantId;
}

/** A tenth of what was waited already. */
function pauseOfWait({ waitedMs }: SequenceGaps): number {
  return Math.min(Math.max(waitedMs / 10, pendingPollIntervalMs.least), pendingPollIntervalMs.most);
}

/** Whoever inserts into a table locks it so, until the end of the transaction. */
const writersOfEvents = sql`select virtualtransaction from pg_locks
  where locktype = 'relation' and relation = 'events'::regclass and mode = 'RowExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database())`;

function eventOf({ kind, ...event }: EventRow): RecordedEvent {
  return { ...event, kind: currentEventType(kind) };
}
