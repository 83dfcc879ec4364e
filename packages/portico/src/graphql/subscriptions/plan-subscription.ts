// Turns a subscription operation into a plan for the hub.

import { missingRelatedScope } from "../../engine/authorize.ts";
import { Problem } from "../../errors.ts";
import { valueKey } from "../../lib/value-key.ts";
import { bytesOfToken } from "../../query/answer-size.ts";
import { isOwn, ownText } from "../../query/own-text.ts";
import { wholeRow } from "../../query/selection.ts";
import { showFiles, type UrlOfFile } from "../../query/shown-files.ts";
import type { SubscriptionPlan } from "../../subscriptions/plan.ts";
import type { GraphqlRequest } from "../document/request.ts";
import { missingScopes } from "../document/scopes.ts";
import { type PreparedOperation, rowsPerToken } from "../execute/executor.ts";

export interface GraphqlSubscriptionPlan extends SubscriptionPlan {
  /** The response name of the field. */
  readonly fieldName: string;
}

/**
 * With the extension `wholeRow`, which the typed client sends, messages have the row as REST shows it, whatever the
 * operation selects of it: a program that does not know the schema could not name its fields.
 *
 * @throws Problem `validation_error`
 */
export function planSubscription(
  { text, compiled }: PreparedOperation,
  { operationName, variables, extensions }: GraphqlRequest,
  fileUrl: UrlOfFile,
): GraphqlSubscriptionPlan {
  // A valid subscription has one root field (GraphQL, section 5.2.4.1).
  const field = compiled.fields[0]?.field;
  const selected = field?.mapping.selectEvents?.(field);
  const isWhole = extensions.wholeRow === true;
  const events = selected && isWhole ? { ...selected, selection: wholeRow(selected.resource) } : selected;
  if (!events) throw new Problem("validation_error", "The subscription selects no field.");
  const { responseName: fieldName } = field!;
  const isRowSufficient = isOwn(events.selection);
  return {
    ...events,
    key: valueKey([text, operationName, variables, isWhole]),
    fieldName,
    isRowSufficient,
    readCostBytes: isRowSufficient ? 0 : Math.floor(compiled.cost / rowsPerToken) * bytesOfToken,
    // Only called if the row is sufficient.
    rowText: (row) => ownText(row, events.selection)!,
    render: (position, row) =>
      `{"data":{"${fieldName}":${showFiles(events.selection, row, fileUrl)}},"extensions":{"eventId":"${position}"}}`,
    missingScope: (caller) =>
      missingScopes(caller, compiled.accesses)[0]?.problem ?? missingRelatedScope(caller, events.conditions),
  };
}
