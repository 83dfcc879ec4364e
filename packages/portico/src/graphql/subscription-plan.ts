// A subscription as a plan: of which events it tells, and what of their rows.

import type { ResourceModel } from "../declare/model.ts";
import { satisfiesAll } from "../engine/row-conditions.ts";
import { Problem, validationError } from "../errors.ts";
import { bytesOfToken } from "../plan/answer-size.ts";
import { eventType } from "../plan/event-type.ts";
import type { Comparison, Member, Selection } from "../plan/read.ts";
import type { RowValues } from "../plan/write.ts";
import { type PreparedOperation, rowsPerToken } from "./answer.ts";
import { filterConditions, parentConditions } from "./list-arguments.ts";
import { rowSelection } from "./row-selection.ts";
import type { NeededScope } from "./scopes.ts";
import { ownText } from "./write.ts";

export interface SubscriptionPlan {
  readonly resource: ResourceModel;
  /** `post.created` */
  readonly kind: string;
  /** Undefined for every row. */
  readonly id: string | undefined;
  readonly conditions: readonly Comparison[];
  /** The field in the answer. */
  readonly name: string;
  readonly selection: Selection;
  /** Whether an event's own row has all that is selected. */
  readonly isAnsweredByEvent: boolean;
  /** What reading the rows around an event costs, as bytes that are sent. */
  readonly bytesOfReading: number;
  readonly scopes: readonly NeededScope[];
}

/** An event with its row read. */
export interface ParsedEvent {
  readonly kind: string;
  readonly rowId: string;
  readonly row: RowValues;
}

/** @throws Problem `validation_error` */
export function planSubscription({ compiled }: PreparedOperation): SubscriptionPlan {
  const selected = compiled.fields[0]?.selected;
  if (selected?.mapping?.kind !== "event")
    throw new Problem("validation_error", "There is nothing to subscribe to.");
  const { name, mapping, subselections, arguments: args } = selected;
  const { resource, action } = mapping;
  const selection = rowSelection(subselections[0]!);
  const isAnsweredByEvent = selection.members.every(isOwnMember);
  if (!isAnsweredByEvent && action === "deleted" && !resource.markOnDelete)
    throw notInDeletedRow(name, selection);
  const { parent } = resource;
  const parentCondition = parent && isPresent(args[parent.name]) ? parentConditions(resource, args) : [];
  const filter = isPresent(args.filter) ? filterConditions(resource, args.filter as RowValues) : [];
  return {
    resource,
    kind: eventType(resource.name, action),
    id: isPresent(args.id) ? String(args.id) : undefined,
    conditions: [...parentCondition, ...filter],
    name,
    selection,
    isAnsweredByEvent,
    bytesOfReading: isAnsweredByEvent ? 0 : Math.floor(compiled.cost / rowsPerToken) * bytesOfToken,
    scopes: compiled.scopes,
  };
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isOwnMember({ kind }: Member): boolean {
  return kind === "value" || kind === "constant";
}

function notInDeletedRow(name: string, { members }: Selection): Problem {
  // Rows and lists are all that is selected of a row beside its own fields.
  const inner = members.find((member) => member.kind === "row" || member.kind === "list")!;
  const field = `${name}.${inner.name}`;
  return validationError(
    field,
    "unknown",
    `${field} cannot be told: the row is gone then, and only its own fields are known.`,
  );
}

/** Whether a subscription tells of an event, but for what the policy of the resource says. */
export function matchesEvent({ kind, id, conditions }: SubscriptionPlan, event: ParsedEvent): boolean {
  if (kind !== event.kind || (id !== undefined && id !== event.rowId)) return false;
  return satisfiesAll(conditions, event.row);
}

/** What is told of an event whose own row has all of it. */
export function ownPart({ selection }: SubscriptionPlan, row: RowValues): string {
  // The plan says that it selects nothing else.
  return ownText(row, selection)!;
}
