// Pages of the recorded events that a caller sees. Policies decide about each event by the rows of now, so no index knows
// which ones a caller sees: a page inspects a bounded number of events. It may have fewer events than its limit, even
// none, although there are more; its cursor continues where it stopped.

import type { Caller } from "../declare/caller.ts";
import { requireScope } from "../engine/authorize.ts";
import { Problem, validationError } from "../errors.ts";
import type { EventReader, ScannedEvent } from "../events/event-reader.ts";
import { Position } from "../events/position.ts";
import type { RecordedEvent } from "../events/recorded-event.ts";
import { valueKey } from "../lib/value-key.ts";
import { maxAnswerBytes } from "../query/answer-size.ts";
import type { PositionCursors } from "../query/position-cursors.ts";
import type { VisibleEvent, VisibleEvents } from "../subscriptions/visible-events.ts";
import {
  type EventFilter,
  type EventListRequest,
  earliestTime,
  matches,
  mayMatch,
  sortedFilter,
} from "./event-filter.ts";
import { type LoggedEvent, loggedEvent } from "./logged-event.ts";
import { eventsScope } from "./operations.ts";
import { PageQueue } from "./page-queue.ts";

/** Events that one page inspects. For the events of some rows, it is one part. */
const maxInspected = 5_000;
/** Events whose rows are read at once. */
const maxReadTogether = 50;
/** Space for the other members of events remains below the bound of all responses. */
const maxPageBytes = maxAnswerBytes - 1024 * 1024;

export interface EventPage {
  /** In the order of the list. */
  readonly events: readonly LoggedEvent[];
  /** Whether there may be more in the direction in which the page was read. */
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
  readonly prevCursor: string | undefined;
  /** The cursor of an event. @param index of one of `events` */
  cursorAt(index: number): string;
}

interface Range {
  readonly after: Position;
  readonly until: Position;
}

interface Found {
  readonly events: readonly VisibleEvent[];
  /** The position to continue from; undefined at the end. */
  readonly stoppedAt: Position | undefined;
}

export class EventLog {
  readonly #reader: EventReader;
  readonly #visible: VisibleEvents;
  readonly #cursors: PositionCursors;
  readonly #pages = new PageQueue();

  constructor(reader: EventReader, visible: VisibleEvents, cursors: PositionCursors) {
    this.#reader = reader;
    this.#visible = visible;
    this.#cursors = cursors;
  }

  /**
   * A page of the events that a caller sees.
   * @throws Problem `insufficient_scope`, `invalid_cursor`, or `validation_error` where events that should follow have been
   *   deleted by retention; `rate_limited` or `unavailable` where too many requests are waiting
   */
  async list(caller: Caller, request: EventListRequest): Promise<EventPage> {
    requireScope(caller, eventsScope);
    return this.#pages.run(caller.tenantId, () => this.#list(caller, request));
  }

  async #list(caller: Caller, request: EventListRequest): Promise<EventPage> {
    const { filter, isOldestFirst, cursor, isBackward } = request;
    const list = valueKey([caller.tenantId, sortedFilter(filter), isOldestFirst]);
    const position = cursor === undefined ? undefined : positionOf(this.#cursors.decode(list, cursor));
    const resources = this.#visible.resourcesOf(caller).filter((resource) => mayMatch(filter, resource));
    const names = resources.map(({ name }) => name);
    const readsOlder = isOldestFirst === isBackward;
    const range = await this.#rangeOf(caller, names, filter, position, readsOlder);
    const { events, stoppedAt } = await this.#find(caller, names, request, range, readsOlder);
    return this.#page(list, request, isBackward ? events.toReversed() : events, stoppedAt);
  }

  /** @throws Problem `insufficient_scope`, `not_found` */
  async get(caller: Caller, id: string): Promise<LoggedEvent> {
    requireScope(caller, eventsScope);
    const found = await this.#reader.find(caller.tenantId, id);
    const events = found ? await this.#reader.read(caller.tenantId, [found]) : [];
    const [event] = await this.#visible.of(caller, events);
    if (!event) throw new Problem("not_found", "There is no event with this id, or it has been deleted.");
    return loggedEvent(event);
  }

  #page(
    list: string,
    { cursor, isBackward }: EventListRequest,
    events: readonly VisibleEvent[],
    stoppedAt: Position | undefined,
  ): EventPage {
    const cursorOf = (position: Position) => this.#cursors.encode(list, position.toString());
    const cursorAt = (position: Position | undefined) => position && cursorOf(position);
    const [first, last] = [events[0]?.event.position, events.at(-1)?.event.position];
    return {
      events: events.map(loggedEvent),
      cursorAt: (index) => cursorOf(events[index]!.event.position),
      hasMore: stoppedAt !== undefined,
      nextCursor: (isBackward ? cursor !== undefined && cursorAt(last) : cursorAt(stoppedAt)) || null,
      prevCursor: cursorAt((isBackward ? stoppedAt : undefined) ?? first),
    };
  }

  /** The positions between which events are looked for. */
  async #rangeOf(
    { tenantId }: Caller,
    resources: readonly string[],
    filter: EventFilter,
    cursor: Position | undefined,
    readsOlder: boolean,
  ): Promise<Range> {
    const { after: afterId, lte, lt } = filter;
    const [since, until] = [earliestTime(filter), lte ?? lt];
    const followed = afterId === undefined ? undefined : await this.#positionOfEvent(tenantId, afterId);
    let start = Position.latest(
      followed ?? Position.start,
      since === undefined ? Position.start : await this.#reader.positionBefore(since),
    );
    let end = await (until === undefined
      ? this.#reader.completeUntil()
      : this.#reader.positionAfter(Date.parse(until)));
    if (cursor && readsOlder) end = Position.earliest(end, cursor.previous);
    if (cursor && !readsOlder) {
      start = Position.latest(start, cursor);
      await this.#requireKept(tenantId, resources, cursor, "cursor");
    }
    return { after: start, until: end };
  }

  async #positionOfEvent(tenantId: string, id: string): Promise<Position> {
    const event = await this.#reader.find(tenantId, id);
    if (event) return event.position;
    const message = `There is no event \`${id.slice(0, 100)}\`. It may have been deleted with the events after it: fetch the current data, then list events without \`after\`.`;
    throw validationError("after", "reference", message);
  }

  /** @throws Problem `validation_error` if events after a position have been deleted */
  async #requireKept(
    tenantId: string,
    resources: readonly string[],
    position: Position,
    field: string,
  ): Promise<void> {
    const last = await this.#reader.lastPurged(tenantId, resources);
    if (!last.isAfter(position)) return;
    const message = `Events after this position have been deleted. Fetch the current data, then list events without \`${field}\`.`;
    throw validationError(field, "min", message);
  }

  async #find(
    caller: Caller,
    resources: readonly string[],
    { filter, limit }: EventListRequest,
    { after, until }: Range,
    readsOlder: boolean,
  ): Promise<Found> {
    const { tenantId } = caller;
    const page = new FoundEvents(limit);
    let range = { tenantId, resources, after, until };
    for (let inspected = 0; resources.length > 0; ) {
      const part = await this.#reader.scanPart(range, readsOlder, filter.resourceIds);
      const matching = part.events.filter((event) => matches(filter, event));
      const stoppedAt = await this.#addVisible(caller, matching, page);
      if (stoppedAt) return { events: page.events, stoppedAt };
      const { end } = part;
      if (!end) break;
      inspected += part.inspected;
      if (inspected >= maxInspected) return { events: page.events, stoppedAt: end };
      range = readsOlder ? { ...range, until: end.previous } : { ...range, after: end };
    }
    return { events: page.events, stoppedAt: undefined };
  }

  /** Adds the events that the caller sees. @returns where the page is full; undefined if it is not */
  async #addVisible(
    caller: Caller,
    matching: readonly ScannedEvent[],
    page: FoundEvents,
  ): Promise<Position | undefined> {
    let rest = matching;
    while (rest.length > 0) {
      const read = await this.#reader.read(caller.tenantId, rest.slice(0, maxReadTogether));
      for (const each of await this.#visible.of(caller, read))
        if (!page.add(each)) return page.events.at(-1)!.event.position;
      const last = read.at(-1)?.position;
      if (last && page.exceeds(read)) return last;
      // Events that are not read have been deleted, or follow those that fit.
      const index = last
        ? rest.findIndex(({ position }) => position.sequence === last.sequence)
        : maxReadTogether;
      rest = rest.slice(index + 1);
    }
    return undefined;
  }
}

/** The events of a page while they are found. */
class FoundEvents {
  readonly events: VisibleEvent[] = [];
  readonly #limit: number;
  #bytes = 0;
  #readCharacters = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @returns false if the page has as many events as it may have */
  add(each: VisibleEvent): boolean {
    const bytes = Buffer.byteLength(each.row);
    const isFull = this.events.length === this.#limit || this.#bytes + bytes > maxPageBytes;
    if (isFull && this.events.length > 0) return false;
    this.#bytes += bytes;
    this.events.push(each);
    return true;
  }

  /** Whether so much has been read for the page that it must end, even if the caller sees little of it. */
  exceeds(read: readonly RecordedEvent[]): boolean {
    this.#readCharacters += read.reduce((sum, { row }) => sum + row.length, 0);
    return this.#readCharacters > maxAnswerBytes;
  }
}

/** @param text of a cursor whose signature is valid, so `encode` made it of a position */
function positionOf(text: string): Position {
  return Position.parse(text)!;
}
