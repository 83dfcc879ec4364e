// Where subscriptions read events from: the recorded events of all protocols and processes.

import type { EventRange, RecordedEvent } from "../events/recorded-event.ts";

export interface EventSource {
  /** Calls `listener` with each later batch of events, in order. @returns a function that stops it */
  listen(listener: (events: readonly RecordedEvent[]) => Promise<void>): Promise<() => void>;
  /** The sequence number up to which all events have been passed to listeners. */
  readonly position: number;
  /** Sequence numbers after `position` that are already visible in the database. */
  visibleAfter(position: number): Promise<ReadonlySet<number>>;
  /** The sequence number of the last event of a topic that retention has deleted; 0 if none has been. */
  lastPurged(topic: Topic): Promise<number>;
  /** Reports an event that cannot be read to the operator. It is not delivered. */
  skip(event: RecordedEvent, error: unknown): void;
  /** Reads events that were recorded before, oldest first, in batches. @returns an empty list after the last one */
  readRange(range: EventRange): Promise<readonly RecordedEvent[]>;
}

/** The events of one resource of one tenant. */
export type Topic = Pick<EventRange, "tenantId" | "resource">;
