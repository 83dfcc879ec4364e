// Where subscriptions read events from: the recorded events of all protocols and processes.

import type { Position } from "../events/position.ts";
import type { EventRange, RecordedEvent } from "../events/recorded-event.ts";

export interface EventSource {
  /** Calls `listener` with each later batch of events, in order. @returns a function that stops it */
  listen(listener: (events: readonly RecordedEvent[]) => Promise<void>): Promise<() => void>;
  /** The event up to which all have been passed to listeners. */
  readonly position: Position;
  /** The positions, as texts, of events after `position` that are already visible in the database. */
  visibleAfter(position: Position): Promise<ReadonlySet<string>>;
  /** Where to resume after an event whose id a client has kept; undefined if there is no such event yet. */
  resumedAt(position: Position): Promise<Position | undefined>;
  /** The last event of a topic that retention has deleted; the start if none has been. */
  lastPurged(topic: Topic): Promise<Position>;
  /** Reports an event that cannot be read to the operator. It is not delivered. */
  skip(event: RecordedEvent, error: unknown): void;
  /** Reads events that were recorded before, oldest first, in batches. @returns an empty list after the last one */
  readRange(range: EventRange): Promise<readonly RecordedEvent[]>;
}

/** The events of one resource of one tenant. */
export type Topic = Pick<EventRange, "tenantId" | "resource">;
