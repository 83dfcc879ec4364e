// An event as it was recorded with a write, and ranges of events.

import type { Position } from "./position.ts";

export interface RecordedEvent {
  /** `event_01k...` */
  readonly id: string;
  /** Its position among all events. A subscriber resumes after it. */
  readonly position: Position;
  readonly tenantId: string;
  /** The name of the resource: `post`. */
  readonly resource: string;
  /** `post.created` */
  readonly type: string;
  readonly rowId: string;
  /** The row after the write (for a deletion, before it), as JSON text. */
  readonly row: string;
  /**
   * For a row that was deleted together with others: a JSON list of its parents that were deleted too, nearest first. Null
   * for other events.
   */
  readonly deletedParents: string | null;
  /** When the write began: ISO 8601 in UTC. */
  readonly createdAt: string;
}

/** Identifies the row of an event in its tenant: work for events of one row is done in their order. */
export function rowKeyOf({ resource, rowId }: Pick<RecordedEvent, "resource" | "rowId">): string {
  return `${resource} ${rowId}`;
}

/** A range of the events of a tenant's resource. */
export interface EventRange {
  readonly tenantId: string;
  readonly resource: string;
  /** The first position is excluded. */
  readonly after: Position;
  readonly until: Position;
}
