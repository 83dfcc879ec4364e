// A subscription as a plan: of which events it tells, and what of their rows.

import { containerConditions } from "../../engine/containers.ts";
import { Problem, validationError } from "../../errors.ts";
import { eventType } from "../../events/event-type.ts";
import { valueKey } from "../../lib/value-key.ts";
import { bytesOfToken } from "../../query/answer-size.ts";
import type { Member, Selection } from "../../query/read.ts";
import type { RowValues } from "../../query/write.ts";
import type { SubscriptionPlan } from "../../subscriptions/plan.ts";
import { rowSelection } from "../compile/row-selection.ts";
import type { GraphqlRequest } from "../document/request.ts";
import { missingScopes } from "../document/scopes.ts";
import { type PreparedOperation, rowsPerToken } from "../execute/executor.ts";
import { ownText } from "../execute/write.ts";
import { filterConditions, parentContainer } from "../schema/list-arguments.ts";

export interface GraphqlSubscriptionPlan extends SubscriptionPlan {
  /** The response name of the field. */
  readonly fieldName: string;
}

/** @throws Problem `validation_error` */
export function planSubscription(
  { text, compiled }: PreparedOperation,
  { operationName, variables }: GraphqlRequest,
): GraphqlSubscriptionPlan {
  const selected = compiled.fields[0]?.selected;
  if (selected?.mapping?.kind !== "event")
    throw new Problem("validation_error", "There is nothing to subscribe to.");
  const { responseName: name, mapping, subselections, arguments: args } = selected;
  const { resource, action } = mapping;
  const selection = rowSelection(subselections[0]!);
  const isRowSufficient = selection.members.every(isOwnMember);
  if (!isRowSufficient && action === "deleted" && !resource.markOnDelete)
    throw notInDeletedRow(name, selection);
  const { parent } = resource;
  const container = parent && isPresent(args[parent.name]) ? parentContainer(resource, args) : undefined;
  const filter = isPresent(args.filter) ? filterConditions(resource, args.filter as RowValues) : [];
  return {
    key: valueKey([text, operationName, variables]),
    resource,
    kind: eventType(resource.name, action),
    id: isPresent(args.id) ? String(args.id) : undefined,
    conditions: [...(container ? containerConditions(container) : []), ...filter],
    fieldName: name,
    selection,
    isRowSufficient,
    readCostBytes: isRowSufficient ? 0 : Math.floor(compiled.cost / rowsPerToken) * bytesOfToken,
    // Only called if the row is sufficient.
    rowText: (row) => ownText(row, selection)!,
    render: (sequence, row) => `{"data":{"${name}":${row}},"extensions":{"eventId":"${sequence}"}}`,
    missingScope: (caller) => missingScopes(caller, compiled.scopes)[0]?.problem,
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
