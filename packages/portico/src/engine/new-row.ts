// A row that is about to be written.

import type { Caller } from "../declare/caller.ts";
import { newId } from "../lib/id.ts";
import type { ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import { ownPolicyConditions } from "./policy.ts";
import { satisfiesAll } from "./row-conditions.ts";
import { currentValue } from "./validation/row-values.ts";

/** A new row: its values and those that the server sets. */
export function newRow(
  { parent, idPrefix }: ResourceModel,
  values: RowValues,
  now: string,
  parentId: string | undefined,
): RowValues & { readonly id: string } {
  return {
    ...values,
    ...(parent && { [parent.name]: parentId }),
    id: newId(idPrefix),
    createdAt: now,
    updatedAt: now,
  };
}

/** Whether a row meets the policy of its own resource for a caller. That of its parent is checked apart. */
export function meetsOwnPolicy(
  caller: Caller,
  resource: ResourceModel,
  row: RowValues,
  now: string,
): boolean {
  const conditions = ownPolicyConditions(caller, resource);
  if (conditions.length === 0) return true;
  const current = conditions.map(({ attribute }) => [attribute.name, currentValue(attribute, row, now)]);
  return satisfiesAll(conditions, Object.fromEntries(current));
}
