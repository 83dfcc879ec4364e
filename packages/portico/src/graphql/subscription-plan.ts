// A subscription as a plan: of which events it tells, and what of their rows.

import type { ResourceModel } from "../declare/model.ts";
import { holdAll } from "../engine/row-conditions.ts";
import { fault, Problem } from "../errors.ts";
import { bytesOfToken } from "../plan/answer-size.ts";
import type { Comparison, Member, Selection } from "../plan/read.ts";
import type { RowValues } from "../plan/write.ts";
import { type Examined, rowsOfToken } from "./answer.ts";
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
  readonly isOwn: boolean;
  /** What reading the rows around an event costs, as bytes that are sent. */
  readonly bytesOfReading: number;
  readonly scopes: readonly NeededScope[];
}

/** An event with its row read. */
export interface ReadEvent {
  readonly kind: string;
  readonly rowId: string;
  readonly row: RowValues;
}

/** @throws Problem `validation_error` */
export function planSubscription({ prepared }: Examined): SubscriptionPlan {
  const selected = prepared.fields[0]?.selected;
  if (selected?.meaning?.kind !== "event")
    throw new Problem("validation_error", "There is nothing to subscribe to.");
  const { name, meaning, inside, arguments: given } = selected;
  const { resource, action } = meaning;
  const selection = rowSelection(inside[0]!);
  const isOwn = selection.members.every(isOwnMember);
  if (!isOwn && action === "removed" && !resource.removalMark) throw beyondTheRow(name, selection);
  const { parent } = resource;
  const above = parent && isGiven(given[parent.name]) ? parentConditions(resource, given) : [];
  const filter = isGiven(given.filter) ? filterConditions(resource, given.filter as RowValues) : [];
  return {
    resource,
    kind: `${resource.name}.${action}`,
    id: isGiven(given.id) ? String(given.id) : undefined,
    conditions: [...above, ...filter],
    name,
    selection,
    isOwn,
    bytesOfReading: isOwn ? 0 : Math.floor(prepared.cost / rowsOfToken) * bytesOfToken,
    scopes: prepared.scopes,
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isOwnMember({ kind }: Member): boolean {
  return kind === "value" || kind === "constant";
}

function beyondTheRow(name: string, { members }: Selection): Problem {
  // Rows and lists are all that is selected of a row beside its own fields.
  const inner = members.find((member) => member.kind === "row" || member.kind === "list")!;
  const field = `${name}.${inner.name}`;
  return fault(
    field,
    "unknown",
    `${field} cannot be told: the row is gone then, and only its own fields are known.`,
  );
}

/** Whether a subscription tells of an event, but for what the policy of the resource says. */
export function isAbout({ kind, id, conditions }: SubscriptionPlan, event: ReadEvent): boolean {
  if (kind !== event.kind || (id !== undefined && id !== event.rowId)) return false;
  return holdAll(conditions, event.row);
}

/** What is told of an event whose own row has all of it. */
export function ownPart({ selection }: SubscriptionPlan, row: RowValues): string {
  // The plan says that it selects nothing else.
  return ownText(row, selection)!;
}
