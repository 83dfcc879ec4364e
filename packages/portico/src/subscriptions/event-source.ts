// What subscriptions are fed from: the events of all protocols and processes, as they are recorded.

import type { EventRange, RecordedEvent } from "../events/recorded-event.ts";

export interface EventSource {
  /** Calls `listener` with every event from now on, in their order. @returns what ends it */
  listen(listener: (events: readonly RecordedEvent[]) => Promise<void>): Promise<() => void>;
  /** All events up to this number are told, or being told. */
  readonly position: number;
  /** The numbers above one that can be seen already. */
  visibleAfter(position: number): Promise<ReadonlySet<number>>;
  /** The last event of a resource of a tenant that is kept no longer; 0 where all are. */
  lastPurged(topic: Pick<EventRange, "tenantId" | "resource">): Promise<number>;
  /** Tells whoever runs the server of an event that cannot be read, and is told to nobody. */
  skip(event: RecordedEvent, error: unknown): void;
  /** Events that were told before, oldest first; some at once, none at the end. */
  readRange(range: EventRange): Promise<readonly RecordedEvent[]>;
}
