// New events as they are recorded, by whichever door or process of the database, in the order of their numbers. The
// table is looked at while somebody listens: that needs nothing but the table, on both databases.

import { sql } from "kysely";
import type { RecordedEvent, Stretch } from "../plan/recorded-event.ts";
import type { ColumnValues, Statement } from "../store/database.ts";
import { compile, slot } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import { Gaps } from "./gaps.ts";
import { type EventTopic, PurgedEvents } from "./purged-events.ts";

/** Takes events in their order. The next ones are not looked for before it is done with these. */
export type Listener = (events: readonly RecordedEvent[]) => Promise<void>;

const betweenLooksMs = 25;
/** Sooner where something waits for a transaction to end, and later again for one that takes long. */
const whileWaitingMs = { least: 5, most: 100 };
const afterFailureMs = 500;
/** Events read at once; the rest follows at once, too. */
const mostAtOnce = 250;
/** Events that are read again at once, for one of many who missed some; more than one only up to so many bytes. */
const mostOfStretch = 32;
const mostBytesOfStretch = 256 * 1024;
/** Numbers below the newest of which some may still come when the first one listens. */
const reach = 1_000;

export class EventFeed {
  readonly #store: Store;
  readonly #onError: (error: unknown) => void;
  readonly #new: Statement<number>;
  readonly #numbers: Statement<number>;
  readonly #stretch: Statement<Stretch>;
  readonly #newest: Statement<undefined>;
  /** The transactions that write events; undefined where there is one writer at a time. */
  readonly #writers: Statement<undefined> | undefined;
  readonly #purged: PurgedEvents;
  readonly #listeners = new Set<Listener>();
  /** What was told so far; unknown while nobody listens. */
  #gaps: Gaps | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  /** @param onError is told when the table cannot be read; the feed tries again */
  constructor(store: Store, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
    this.#purged = new PurgedEvents(store);
    const { builder, limit } = store.dialect;
    const columns = sql`sequence, tenant_id, resource, kind, row_id, row`;
    const most = limit(
      mostAtOnce,
      slot(() => mostAtOnce),
    );
    const isNew = sql`sequence > ${slot((told: number) => told)}`;
    this.#new = compile(
      builder,
      sql`select ${columns} from events where ${isNew} order by sequence limit ${most}`,
    );
    this.#numbers = compile(builder, sql`select sequence from events where ${isNew} order by sequence`);
    this.#stretch = compile(
      builder,
      sql`select ${columns} from events where sequence in (select sequence from
        (select sequence, sum(bytes) over (order by sequence) - bytes as bytes_before from
        (select sequence, octet_length(cast(row as text)) as bytes from events
        where tenant_id = ${slot(tenantOf)} and resource = ${slot(({ resource }: Stretch) => resource)}
        and sequence > ${slot(({ after }: Stretch) => after)}
        and sequence <= ${slot(({ until }: Stretch) => until)} order by sequence limit ${limit(
          mostOfStretch,
          slot(() => mostOfStretch),
        )}) as next) as weighed where bytes_before < ${sql.lit(mostBytesOfStretch)}) order by sequence`,
      // Many can ask for much at once: beside all other reads, and tenants take turns.
      { mayScan: true, tenantOf },
    );
    this.#newest = compile(builder, sql`select coalesce(max(sequence), 0) from events`);
    // SQLite has one writer, whose numbers are seen in their order.
    this.#writers = store.database.isRemote ? compile(builder, writersOfEvents) : undefined;
  }

  /** Calls `listener` with every event from now on. @returns what ends it */
  async listen(listener: Listener): Promise<() => void> {
    this.#gaps ??= await this.#begin();
    this.#listeners.add(listener);
    this.#lookLater(betweenLooksMs);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** All events up to this number are told, or being told. */
  get told(): number {
    return this.#gaps?.told ?? 0;
  }

  /** The numbers after `told` that can be seen already: whoever begins now has no interest in them. */
  async seenAfter(told: number): Promise<ReadonlySet<number>> {
    const rows = await this.#store.database.query(this.#numbers, told);
    return new Set(rows.map(([number]) => Number(number)));
  }

  /** Events that were told before, oldest first; some at most. */
  async stretch(stretch: Stretch): Promise<readonly RecordedEvent[]> {
    const rows = await this.#store.database.query(this.#stretch, stretch);
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

  async #begin(): Promise<Gaps> {
    const [row] = await this.#store.database.query(this.#newest, undefined);
    const newest = Number(row![0]);
    const isUnderWay = (await this.#writing()).length > 0;
    // Somebody else may have begun meanwhile.
    return this.#gaps ?? new Gaps(isUnderWay ? Math.max(0, newest - reach) : newest);
  }

  async #writing(): Promise<readonly string[]> {
    if (!this.#writers) return [];
    const rows = await this.#store.database.query(this.#writers, undefined);
    return rows.map(([writer]) => String(writer));
  }

  #lookLater(inMs: number): void {
    if (this.#isLooking || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#look().catch(this.#onError);
    }, inMs);
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    const gaps = this.#gaps;
    if (!gaps || this.#listeners.size === 0) {
      // Whoever listens next begins with what is recorded then.
      this.#gaps = undefined;
      return;
    }
    this.#isLooking = true;
    let pause = betweenLooksMs;
    try {
      pause = await this.#tellNew(gaps);
    } catch (error) {
      this.#onError(error);
      pause = afterFailureMs;
    }
    this.#isLooking = false;
    this.#lookLater(pause);
  }

  /** @returns how long to wait before the next look */
  async #tellNew(gaps: Gaps): Promise<number> {
    // Before the events are read: what those who have ended by now wrote is seen then.
    if (gaps.isWaiting && !gaps.update(await this.#writing())) return pauseOfWait(gaps);
    const rows = await this.#store.database.query(this.#new, gaps.told);
    if (rows.length === 0) return betweenLooksMs;
    const events = rows.map(eventOf);
    const numbers = events.map(({ sequence }) => sequence);
    let count = gaps.settle(numbers);
    if (count < numbers.length && !gaps.isWaiting) {
      gaps.waitFor(numbers.at(-1)!, await this.#writing());
      // Of one writer nothing comes late.
      if (!this.#writers) count += gaps.settle(numbers.slice(count));
    }
    const told = events.slice(0, count);
    if (count > 0) await Promise.all([...this.#listeners].map((listener) => listener(told)));
    if (count < rows.length) return gaps.isWaiting ? pauseOfWait(gaps) : 0;
    return rows.length === mostAtOnce ? 0 : betweenLooksMs;
  }
}

function tenantOf({ tenantId }: Stretch): string {
  return tenantId;
}

/** A tenth of what was waited already. */
function pauseOfWait({ waitedMs }: Gaps): number {
  return Math.min(Math.max(waitedMs / 10, whileWaitingMs.least), whileWaitingMs.most);
}

/** Whoever inserts into a table locks it so, until the end of the transaction. */
const writersOfEvents = sql`select virtualtransaction from pg_locks
  where locktype = 'relation' and relation = 'events'::regclass and mode = 'RowExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database())`;

/** The columns of the statements above; numbers of PostgreSQL may come as texts. */
function eventOf([sequence, tenantId, resource, kind, rowId, row]: ColumnValues): RecordedEvent {
  const texts = { tenantId, resource, kind, rowId, row } as Omit<RecordedEvent, "sequence">;
  return { sequence: Number(sequence), ...texts };
}
