// New events as they are recorded, by whichever door or process of the database. The table is looked at while
// somebody listens: that needs nothing but the table, on both databases, and finds what was recorded meanwhile.

import { sql } from "kysely";
import type { ColumnValues, Statement } from "../store/database.ts";
import { compile, slot } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import { Gaps } from "./gaps.ts";

/** An event as it was recorded. */
export interface FeedEvent {
  /** Its place among all events; to resume is to begin after it. */
  readonly sequence: number;
  readonly id: string;
  readonly tenantId: string;
  /** The name of the resource: `post`. */
  readonly resource: string;
  /** `post.created` */
  readonly kind: string;
  readonly rowId: string;
  /** The row after the write (before it, where it was removed), as JSON text. */
  readonly row: string;
}

export type Listener = (events: readonly FeedEvent[]) => void;

const betweenLooksMs = 25;
/** Events read at once; the rest follows at once, too. */
const mostAtOnce = 1_000;

interface Place {
  readonly after: number;
  /** Numbers that were passed over. */
  readonly missing: readonly number[];
}
interface ResourcePlace {
  readonly tenantId: string;
  readonly resource: string;
  readonly after: number;
}

export class EventFeed {
  readonly #store: Store;
  readonly #onError: (error: unknown) => void;
  readonly #new: Statement<Place>;
  readonly #missed: Statement<ResourcePlace>;
  readonly #last: Statement<undefined>;
  readonly #listeners = new Set<Listener>();
  /** What was seen so far; unknown until the first look. */
  #gaps: Promise<Gaps> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param onError is told when the table cannot be read; the feed tries again */
  constructor(store: Store, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
    const { builder, limit } = store.dialect;
    const columns = sql`select sequence, id, tenant_id, resource, kind, row_id, row from events`;
    const end = sql`order by sequence limit ${limit(
      mostAtOnce,
      slot(() => mostAtOnce),
    )}`;
    // SQLite has one writer, whose numbers are seen in their order.
    const late = store.database.isRemote
      ? sql` or sequence = any(${slot(({ missing }: Place) => missing)}::bigint[])`
      : sql``;
    this.#new = compile(
      builder,
      sql`${columns} where sequence > ${slot(({ after }: Place) => after)}${late} ${end}`,
    );
    this.#missed = compile(
      builder,
      sql`${columns} where tenant_id = ${slot(({ tenantId }: ResourcePlace) => tenantId)}
        and resource = ${slot(({ resource }: ResourcePlace) => resource)}
        and sequence > ${slot(({ after }: ResourcePlace) => after)} ${end}`,
    );
    this.#last = compile(builder, sql`select coalesce(max(sequence), 0) from events`);
  }

  /** Calls `listener` with the events that are recorded from now on. @returns what ends it */
  async listen(listener: Listener): Promise<() => void> {
    await this.#seen();
    this.#listeners.add(listener);
    this.#lookLater(betweenLooksMs);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** The events of a tenant's resource after a place, oldest first: a thousand at most. */
  async after(tenantId: string, resource: string, sequence: number): Promise<readonly FeedEvent[]> {
    const rows = await this.#store.database.query(this.#missed, { tenantId, resource, after: sequence });
    return rows.map(eventOf);
  }

  close(): void {
    this.#listeners.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** What was seen; at first, all that is there. */
  #seen(): Promise<Gaps> {
    this.#gaps ??= this.#store.database.query(this.#last, undefined).then(
      ([row]) => new Gaps(Number(row![0])),
      (error) => {
        this.#gaps = undefined;
        throw error;
      },
    );
    return this.#gaps;
  }

  #lookLater(inMs: number): void {
    if (this.#listeners.size === 0) {
      // Whoever listens next begins with what is recorded then.
      this.#gaps = undefined;
      this.#timer = undefined;
      return;
    }
    this.#timer ??= setTimeout(() => this.#look(), inMs);
  }

  async #look(): Promise<void> {
    let found: readonly FeedEvent[] = [];
    try {
      const gaps = await this.#seen();
      const place = { after: gaps.last, missing: gaps.missing() };
      found = (await this.#store.database.query(this.#new, place)).map(eventOf);
      for (const { sequence } of found) gaps.see(sequence);
      if (found.length > 0) for (const listener of this.#listeners) listener(found);
    } catch (error) {
      this.#onError(error);
    }
    this.#timer = undefined;
    this.#lookLater(found.length === mostAtOnce ? 0 : betweenLooksMs);
  }
}

/** The columns of the statements above; numbers of PostgreSQL may come as texts. */
function eventOf([sequence, id, tenantId, resource, kind, rowId, row]: ColumnValues): FeedEvent {
  const texts = { id, tenantId, resource, kind, rowId, row } as Omit<FeedEvent, "sequence">;
  return { sequence: Number(sequence), ...texts };
}
