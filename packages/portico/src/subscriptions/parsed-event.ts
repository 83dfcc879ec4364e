// Recorded events with their rows parsed.

import type { Deletion } from "../events/deleted-together.ts";
import type { Position } from "../events/position.ts";
import type { RecordedEvent } from "../events/recorded-event.ts";
import type { TimeSlice } from "../lib/time-slice.ts";
import type { RowValues } from "../query/write.ts";
import type { EventSource } from "./event-source.ts";

export interface ParsedEvent {
  readonly event: RecordedEvent;
  readonly position: Position;
  /** `post.created` */
  readonly kind: string;
  readonly rowId: string;
  readonly row: RowValues;
  /** The parents that were deleted together with the row, nearest first. */
  readonly deletedParents: readonly RowValues[];
  /** Undefined unless the row was deleted together with others. */
  readonly deletion: Deletion | undefined;
  /** Whether the row is recorded as it was when it was deleted. */
  readonly isDeletion: boolean;
}

const none: readonly never[] = Object.freeze([]);

/** Parses the rows of events. An event that cannot be parsed is reported and left out. */
export async function parseEvents(
  events: readonly RecordedEvent[],
  source: Pick<EventSource, "skip">,
  slice: TimeSlice,
): Promise<readonly ParsedEvent[]> {
  const parsed: ParsedEvent[] = [];
  for (const event of events) {
    if (slice.isOver) await slice.yield();
    const { position, type: kind, rowId, row, deletedParents, tenantId, createdAt } = event;
    try {
      const values: RowValues | null = JSON.parse(row);
      if (values === null) throw new Error("the row is null");
      const parents: readonly RowValues[] = deletedParents === null ? none : JSON.parse(deletedParents);
      const deletion = deletedParents === null ? undefined : { tenantId, position, at: createdAt };
      const isDeletion = kind.endsWith(".deleted");
      parsed.push({
        event,
        position,
        kind,
        rowId,
        row: values,
        deletedParents: parents,
        deletion,
        isDeletion,
      });
    } catch (error) {
      source.skip(event, error);
    }
  }
  return parsed;
}
