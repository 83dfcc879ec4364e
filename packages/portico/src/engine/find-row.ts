// Finds rows that an operation requires.

import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import { isId } from "../lib/id.ts";
import type { ResourceModel } from "../model/model.ts";
import type { ReadOne } from "../query/read.ts";
import { wholeRow } from "../query/selection.ts";
import type { Session } from "../store/database.ts";
import type { Lock } from "../store/dialect.ts";
import type { Store } from "../store/store.ts";
import { policyConditions } from "./policy.ts";

export function throwNotFound(resource: ResourceModel): never {
  throw new Problem("not_found", `There is no ${resource.title} with this id.`);
}

/**
 * The row as JSON text, locked until the transaction ends.
 * @throws Problem `not_found`, also for a row that the caller may not see
 */
export async function findLocked(
  store: Store,
  session: Session,
  caller: Caller,
  resource: ResourceModel,
  id: string,
  lock: Lock,
): Promise<string> {
  if (!isId(id)) throwNotFound(resource);
  const read = readOf(caller, resource, id);
  return (await store.getLocked(caller.tenantId, read, session, lock)) ?? throwNotFound(resource);
}

/** The row as JSON text; undefined if it does not exist or the caller may not see it. */
export async function findVisible(
  store: Store,
  session: Session,
  caller: Caller,
  resource: ResourceModel,
  id: string,
): Promise<string | undefined> {
  if (!isId(id)) return undefined;
  return store.get(caller.tenantId, readOf(caller, resource, id), session);
}

/** Requires that the caller may see a parent. @throws Problem `not_found` */
export async function requireParentRow(
  store: Store,
  session: Session,
  caller: Caller,
  parent: ResourceModel,
  id: string,
): Promise<void> {
  if ((await findVisible(store, session, caller, parent, id)) === undefined) throwNotFound(parent);
}

/** Reads a whole row, with the policies for the caller. */
function readOf(caller: Caller, resource: ResourceModel, id: string): ReadOne {
  return { resource, selection: wholeRow(resource), id, conditions: policyConditions(caller, resource) };
}
