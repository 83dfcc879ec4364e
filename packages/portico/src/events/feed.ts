// New events as they are recorded, by any protocol and any process on the database, in the order of their numbers. The
// table is looked at while somebody listens: that needs nothing but the table, on both databases.

import { sql } from "kysely";
import type { ColumnValues, Statement } from "../store/database.ts";
import { compile, parameter } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
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

export class EventFeed {
  readonly #store: Store;
  readonly #onError: (error: unknown) => void;
  readonly #selectNew: Statement<number>;
  readonly #selectSequences: Statement<number>;
  readonly #selectRange: Statement<EventRange>;
  readonly #selectNewest: Statement<undefined>;
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
    const { builder, limit } = store.dialect;
    const columns = sql`sequence, tenant_id, resource, kind, row_id, row`;
    const limitSql = limit(
      maxBatchSize,
      parameter(() => maxBatchSize),
    );
    const isNew = sql`sequence > ${parameter((position: number) => position)}`;
    this.#selectNew = compile(
      builder,
      sql`select ${columns} from events where ${isNew} order by sequence limit ${limitSql}`,
    );
    this.#selectSequences = compile(
      builder,
      sql`select sequence from events where ${isNew} order by sequence`,
    );
    this.#selectRange = compile(
      builder,
      sql`select ${columns} from events where sequence in (select sequence from
        (select sequence, sum(bytes) over (order by sequence) - bytes as bytes_before from
        (select sequence, octet_length(cast(row as text)) as bytes from events
        where tenant_id = ${parameter(tenantOf)} and resource = ${parameter(({ resource }: EventRange) => resource)}
        and sequence > ${parameter(({ after }: EventRange) => after)}
        and sequence <= ${parameter(({ until }: EventRange) => until)} order by sequence limit ${limit(
          maxRangeSize,
          parameter(() => maxRangeSize),
        )}) as next) as weighed where bytes_before < ${sql.lit(maxBytesOfStretch)}) order by sequence`,
      // Many can ask for much at once: beside all other reads, and tenants take turns.
      { mayScan: true, tenantOf },
    );
    this.#selectNewest = compile(builder, sql`select coalesce(max(sequence), 0) from events`);
    // SQLite has one writer, whose numbers are seen in their order.
    this.#writers = store.database.isRemote ? compile(builder, writersOfEvents) : undefined;
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
    const rows = await this.#store.database.query(this.#selectSequences, position);
    return new Set(rows.map(([number]) => Number(number)));
  }

  /** Events that were told before, oldest first; some at most. */
  async readRange(range: EventRange): Promise<readonly RecordedEvent[]> {
    const rows = await this.#store.database.query(this.#selectRange, range);
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
    const [row] = await this.#store.database.query(this.#selectNewest, undefined);
    const newest = Number(row![0]);
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
    const rows = await this.#store.database.query(this.#selectNew, gaps.position);
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

/** The columns of the statements above; numbers of PostgreSQL may come as texts. */
function eventOf([sequence, tenantId, resource, kind, rowId, row]: ColumnValues): RecordedEvent {
  const texts = { tenantId, resource, kind: currentEventType(String(kind)), rowId, row } as Omit<
    RecordedEvent,
    "sequence"
  >;
  return { sequence: Number(sequence), ...texts };
}
