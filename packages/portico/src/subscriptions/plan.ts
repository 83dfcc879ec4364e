// A subscription as a plan: which events it is about, and what is sent of them. Protocols make plans; the hub knows none
// of the protocols.

import type { Caller } from "../declare/caller.ts";
import { satisfiesAll } from "../engine/row-conditions.ts";
import type { Problem } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";
import type { Comparison, Selection } from "../query/read.ts";
import type { RowValues } from "../query/write.ts";

export interface SubscriptionPlan {
  readonly resource: ResourceModel;
  /** `post.created` */
  readonly kind: string;
  /** Undefined for every row. */
  readonly id: string | undefined;
  readonly conditions: readonly Comparison[];
  readonly selection: Selection;
  /** Whether an event's own row has all that is selected. */
  readonly isAnsweredByEvent: boolean;
  /** What reading the rows around an event costs, as bytes that are sent. */
  readonly bytesOfReading: number;
  /** The selection of an event's own row, as JSON text, where `isAnsweredByEvent`. */
  ownText(row: RowValues): string;
  /** The message of an event, as JSON text. @param row the selection as JSON text */
  messageOf(sequence: number, row: string): string;
  /** Why a caller may not have the subscription; undefined where nothing is missing. */
  missingScope(caller: Caller): Problem | undefined;
}

/** An event with its row parsed. */
export interface ParsedEvent {
  readonly kind: string;
  readonly rowId: string;
  readonly row: RowValues;
}

/** Whether a subscription is about an event, leaving aside the policy of the resource. */
export function matchesEvent({ kind, id, conditions }: SubscriptionPlan, event: ParsedEvent): boolean {
  if (kind !== event.kind || (id !== undefined && id !== event.rowId)) return false;
  return satisfiesAll(conditions, event.row);
}
