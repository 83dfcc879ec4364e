// Reads recorded events of several resources of a tenant, for code that reads them after they happened: the event log and
// webhooks. A reader keeps a position and needs no process to listen meanwhile.

import { isId } from "../lib/id.ts";
import type { Store } from "../store/store.ts";
import { afterPosition, positionOf, storedEventOf, untilPosition } from "./event-queries.ts";
import { findEvent, positionAfter, positionBefore } from "./event-search.ts";
import { presentPosition } from "./horizon.ts";
import { Position } from "./position.ts";
import { PurgedEvents } from "./purged-events.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import {
  maxScanned,
  maxSearched,
  rowScans,
  scanBackward,
  scanForward,
  selectFitting,
} from "./scan-queries.ts";
import type { StoredNames } from "./stored-names.ts";

/** An event without its row. */
export type ScannedEvent = Pick<RecordedEvent, "position" | "resource" | "type" | "rowId" | "createdAt">;

interface ScannedRow {
  readonly resource: string;
  readonly kind: string;
  readonly rowId: string;
  readonly createdAt: string;
  readonly transactionId: number;
  readonly sequence: number;
}

export interface ScanRange {
  readonly tenantId: string;
  /** The names of the resources. */
  readonly resources: readonly string[];
  /** The first position is excluded. */
  readonly after: Position;
  readonly until: Position;
}

export interface ScannedPart {
  readonly events: readonly ScannedEvent[];
  /** The last event that was inspected; undefined if that was all of the range. */
  readonly end: Position | undefined;
  /** How many events were inspected. */
  readonly inspected: number;
}

export class EventReader {
  readonly #store: Store;
  readonly #names: StoredNames;
  readonly #purged: PurgedEvents;

  constructor(store: Store, names: StoredNames) {
    this.#store = store;
    this.#names = names;
    this.#purged = new PurgedEvents(store);
  }

  /**
   * The position up to which events are complete: no event will be added before it. To pass over none, read no further
   * than this. It includes what was written before the call, unless earlier transactions take long.
   */
  completeUntil(): Promise<Position> {
    return presentPosition(this.#store);
  }

  /**
   * The first events of a range without their rows: the oldest, or the newest if `isBackward`, in that order.
   * @returns `maxScanned` events if there may be more
   */
  async scan(
    { tenantId, resources, after, until }: ScanRange,
    isBackward = false,
  ): Promise<readonly ScannedEvent[]> {
    const select = isBackward ? scanBackward : scanForward;
    const rows = await select(this.#store).all(this.#store.database, {
      tenantId,
      resources: JSON.stringify(resources.map((name) => this.#names.storedName(name))),
      ...afterPosition(after),
      ...untilPosition(until),
    });
    return rows.map((row) => this.#scanned(row));
  }

  /**
   * The first events of a range, as `scan` finds them.
   * @param rowIds of which rows; all by default. Their events are found among many more, if the range has one resource
   */
  async scanPart(range: ScanRange, isBackward: boolean, rowIds?: readonly string[]): Promise<ScannedPart> {
    if (rowIds && range.resources.length === 1) return this.#scanRows(range, isBackward, rowIds);
    const events = await this.scan(range, isBackward);
    const end = events.length < maxScanned ? undefined : events.at(-1)!.position;
    return { events, end, inspected: events.length };
  }

  async #scanRows(
    { tenantId, resources, after, until }: ScanRange,
    isBackward: boolean,
    rowIds: readonly string[],
  ): Promise<ScannedPart> {
    const { searchedEnd, scan } = rowScans[isBackward ? "backward" : "forward"];
    const { database } = this.#store;
    const resource = this.#names.storedName(resources[0]!);
    const whole = {
      ...{ tenantId, resource, rowIds: JSON.stringify(rowIds) },
      ...afterPosition(after),
      ...untilPosition(until),
    };
    const last = await searchedEnd(this.#store).first(database, whole);
    const end = last && positionOf(last);
    const bound = end && (isBackward ? afterPosition(end.previous) : untilPosition(end));
    const rows = await scan(this.#store).all(database, { ...whole, ...bound });
    const events = rows.map((row) => this.#scanned(row));
    const isFull = events.length === maxScanned;
    return {
      events,
      end: isFull ? events.at(-1)!.position : end,
      inspected: isFull ? maxScanned : maxSearched,
    };
  }

  /** The event of a tenant with this id; undefined if there is none, or retention has deleted it. */
  async find(tenantId: string, id: string): Promise<ScannedEvent | undefined> {
    const row = isId(id) ? await findEvent(this.#store, tenantId, id) : undefined;
    return row && this.#scanned(row);
  }

  /** A position before all events that were recorded at a time or later. @param time milliseconds since 1970 */
  positionBefore(time: number): Promise<Position> {
    return positionBefore(this.#store, time);
  }

  /** `completeUntil`, or earlier, but after all events that were recorded at a time or earlier. @param time milliseconds since 1970 */
  positionAfter(time: number): Promise<Position> {
    return positionAfter(this.#store, time);
  }

  #scanned({ resource, kind, rowId, createdAt, ...position }: ScannedRow): ScannedEvent {
    const names = this.#names.currentNames({ resource, kind });
    return { ...names, position: positionOf(position), rowId, createdAt };
  }

  /**
   * Reads events that a scan found, in their order: all of them, or the first ones if their rows are large. An event that
   * has been deleted since is left out.
   */
  async read(tenantId: string, events: readonly ScannedEvent[]): Promise<readonly RecordedEvent[]> {
    if (events.length === 0) return [];
    const sequences = JSON.stringify(events.map(({ position }) => position.sequence));
    const rows = await selectFitting(this.#store).all(this.#store.database, { tenantId, sequences });
    return rows.map((row) => this.#names.currentEvent(storedEventOf(row)));
  }

  /** The last event of these resources that retention has deleted; the start if none was. */
  async lastPurged(tenantId: string, resources: readonly string[]): Promise<Position> {
    const last = await Promise.all(
      resources.map((name) => this.#purged.last({ tenantId, resource: this.#names.storedName(name) })),
    );
    return last.reduce((one, other) => Position.latest(one, other), Position.start);
  }
}
