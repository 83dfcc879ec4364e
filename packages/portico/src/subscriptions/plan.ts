// What a subscription selects and how its messages are rendered. Each protocol makes its own plans.

import type { Caller } from "../declare/caller.ts";
import { evaluateAll } from "../engine/row-conditions.ts";
import type { Problem } from "../errors.ts";
import type { Position } from "../events/position.ts";
import type { ResourceModel } from "../model/model.ts";
import type { Condition } from "../query/condition.ts";
import type { Selection } from "../query/read.ts";
import type { RowValues } from "../query/write.ts";
import type { ParsedEvent } from "./parsed-event.ts";

export interface SubscriptionPlan {
  /**
   * Identifies the plan. Plans with the same key must be interchangeable: an event is rendered once for all
   * subscriptions with the same key whose callers have the same policies.
   */
  readonly key: string;
  readonly resource: ResourceModel;
  /** `post.created` */
  readonly kind: string;
  /** Selects the events of one row; undefined selects those of all rows. */
  readonly id: string | undefined;
  /** Conditions on the event's row. The policies of related rows are added for each caller. */
  readonly conditions: readonly Condition[];
  readonly selection: Selection;
  /** Whether the row that was recorded with the event contains the whole selection. If not, the selection is read. */
  readonly isRowSufficient: boolean;
  /** Charged for each message on top of its size, for the rows that are read. In bytes. */
  readonly readCostBytes: number;
  /** The selection of a recorded row as JSON text. Only called if `isRowSufficient`. */
  rowText(row: RowValues): string;
  /** Renders the message of an event. @param row the selection as JSON text */
  render(position: Position, row: string): string;
  /** The error for a caller that lacks a scope; undefined if it has all of them. Checked whenever the caller changes. */
  missingScope(caller: Caller): Problem | undefined;
}

/** Whether a plan may select an event: related rows and the policy of the resource are not read yet. */
export function matchesEvent({ kind, id, conditions }: SubscriptionPlan, event: ParsedEvent): boolean {
  if (kind !== event.kind || (id !== undefined && id !== event.rowId)) return false;
  return evaluateAll(conditions, event.row) !== false;
}
