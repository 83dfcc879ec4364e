// Finds rows that an operation requires.

import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import { isId } from "../lib/id.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import { comparableOf } from "../query/comparable.ts";
import type { Condition } from "../query/condition.ts";
import { select, wholeRow } from "../query/selection.ts";
import { newestFirst } from "../query/sort.ts";
import type { Session } from "../store/database.ts";
import type { Lock } from "../store/dialect.ts";
import type { Store } from "../store/store.ts";
import { policyConditions } from "./policy.ts";
import { storedSelection } from "./stored-row.ts";

export function throwNotFound(resource: ResourceModel): never {
  throw new Problem("not_found", `There is no ${resource.title} with this id.`);
}

/**
 * The row as the text of `storedSelection`, locked until the transaction ends.
 * @param conditions the policies that apply
 * @throws Problem `not_found`, also for a row that does not meet the conditions
 */
export async function findLocked(
  store: Store,
  session: Session,
  caller: Caller,
  resource: ResourceModel,
  id: string,
  lock: Lock,
  conditions: readonly Condition[],
): Promise<string> {
  if (!isId(id)) throwNotFound(resource);
  const read = { resource, selection: storedSelection(resource), id, conditions };
  return (await store.getLocked(caller.tenantId, read, session, lock)) ?? throwNotFound(resource);
}

/**
 * The row as JSON text; undefined if it does not exist or the caller may not see it.
 * @param conditions those that the row must meet, by default the policies for the caller
 */
export async function findVisible(
  store: Store,
  session: Session,
  caller: Caller,
  resource: ResourceModel,
  id: string,
  conditions: readonly Condition[] = policyConditions(caller, resource),
): Promise<string | undefined> {
  if (!isId(id)) return undefined;
  return store.get(caller.tenantId, { resource, selection: wholeRow(resource), id, conditions }, session);
}

/**
 * Requires that the caller may see a parent.
 * @param conditions as for `findVisible`
 * @throws Problem `not_found`
 */
export async function requireParentRow(
  store: Store,
  session: Session,
  caller: Caller,
  parent: ResourceModel,
  id: string,
  conditions?: readonly Condition[],
): Promise<void> {
  const row = await findVisible(store, session, caller, parent, id, conditions);
  if (row === undefined) throwNotFound(parent);
}

/** The id of the row that has a value of a unique attribute; undefined if there is none that the caller may see. */
export async function idByValue(
  store: Store,
  session: Session,
  caller: Caller,
  resource: ResourceModel,
  { attribute, value }: { readonly attribute: Attribute; readonly value: string | number },
): Promise<string | undefined> {
  const compared = comparableOf(attribute)?.parse(value);
  if (compared === undefined) return undefined;
  const hasValue: Condition = { attribute, operator: "in", values: [compared] };
  const { rows } = await store.list(
    caller.tenantId,
    {
      resource,
      selection: select([resource.attribute.get("id")!]),
      conditions: [hasValue, ...policyConditions(caller, resource)],
      ...{ words: [], sort: newestFirst(resource), page: { style: "first", limit: 1 } },
    },
    session,
  );
  const [row] = JSON.parse(rows) as readonly { readonly id: string }[];
  return row?.id;
}
