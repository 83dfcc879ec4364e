// Creates a row without opening a transaction: one statement inserts the row and its event. On PostgreSQL this saves three
// of four round trips.

import type { Caller } from "../declare/caller.ts";
import { isUnavailable, Problem } from "../errors.ts";
import { newEventId } from "../events/event.ts";
import { isId } from "../lib/id.ts";
import type { ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import { ConstraintError } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { findVisible } from "./find-row.ts";
import { newRow } from "./new-row.ts";
import { policyConditions, resultConditions } from "./policy.ts";
import { requireVisibleReferences } from "./references.ts";
import { insertValues } from "./validation/row-values.ts";
import type { WriteDependencies } from "./write-context.ts";
import { evaluateWritten } from "./write-policy.ts";
import { WriteResult } from "./write-result.ts";

/**
 * Adds a row with one statement, if possible.
 *
 * @param input a valid body
 * @returns undefined if the row has to be created in a transaction. So are rows that cannot be created at all: the
 *   transaction finds the faults in the order that callers rely on
 */
export async function createWithSingleStatement(
  dependencies: WriteDependencies,
  caller: Caller,
  resource: ResourceModel,
  input: RowValues,
  parentId: string | undefined,
): Promise<WriteResult | undefined> {
  if (!resource.allowsSingleStatementCreate || !dependencies.store.database.isRemote) return undefined;
  try {
    return await insertWithSingleStatement(dependencies, caller, resource, input, parentId);
  } catch (error) {
    if ((error instanceof ConstraintError || error instanceof Problem) && !isUnavailable(error))
      return undefined;
    throw error;
  }
}

async function insertWithSingleStatement(
  { store, events }: WriteDependencies,
  caller: Caller,
  resource: ResourceModel,
  input: RowValues,
  parentId = "",
): Promise<WriteResult | undefined> {
  const { tenantId, credentialId } = caller;
  const now = new Date().toISOString();
  if (!(await isParentVisible(store, caller, resource, parentId))) return undefined;
  await requireVisibleReferences(store, store.database, caller, resource, input);
  const values = newRow(resource, insertValues(resource.attributes, input, caller, now), now, parentId);
  // What related rows decide is read in a transaction.
  const policy = resultConditions(caller, resource, "create");
  if (evaluateWritten(policy, values, now) !== true) return undefined;
  const text = await store.writes.insertWithSingleStatement(
    { resource, tenantId, values, event: { id: newEventId(), credentialId, at: now } },
    resource.recordsEvents ? events.insertion : undefined,
  );
  return WriteResult.ofText(values.id, text, {});
}

/** Whether the caller may see the parent. If no policy restricts it, the foreign key shows whether it exists. */
async function isParentVisible(
  store: Store,
  caller: Caller,
  { parent }: ResourceModel,
  id: string,
): Promise<boolean> {
  if (!parent) return true;
  const { target } = parent.reference!;
  if (policyConditions(caller, target).length === 0) return isId(id);
  return (await findVisible(store, store.database, caller, target, id)) !== undefined;
}
