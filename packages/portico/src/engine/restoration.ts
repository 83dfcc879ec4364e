// Restores a row that was deleted softly, with the rows that were deleted with it.

import { Problem } from "../errors.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import { isCleared } from "../model/deletion.ts";
import type { ResourceModel } from "../model/model.ts";
import { deletedTogether } from "../model/soft-deletion.ts";
import type { RowValues } from "../query/write.ts";
import { explainNestedError } from "./constraint.ts";
import { findLocked } from "./find-row.ts";
import { invalidReferences } from "./references.ts";
import { parseStored } from "./stored-row.ts";
import type { WriteContext } from "./write-context.ts";

/**
 * @returns the row as JSON text
 * @throws Problem `not_found` for a row that is not deleted, or that the caller may not restore; `conflict` if a row that it
 *   refers to does not exist, or another row has a unique value of one that is restored
 */
export async function restoreRow(
  context: WriteContext,
  resource: ResourceModel,
  id: string,
): Promise<string> {
  const { store, session, caller, now } = context;
  const { tenantId } = caller;
  // The action exists only for resources that are deleted softly.
  const deletedRows = resource.deletedRows!;
  const conditions = context.conditionsOf(deletedRows);
  const deleted = await findLocked(store, session, caller, deletedRows, id, "delete", conditions);
  await requireReferences(context, resource, parseStored(deleted));
  const resources = [...deletedTogether(resource)].filter((each) => each.deletedRows);
  const slice = new TimeSlice();
  let restored: string | undefined;
  for (const batch of await batchesOf(context, resources, id)) {
    if (slice.isOver) await slice.yield();
    const rows = await store.deletedRows
      .restore(session, { ...batch, tenantId, deletedWith: id, restoredAt: now })
      .catch((error: unknown) => {
        throw explainNestedError(error, batch.resource);
      });
    await context.recordUpdated(batch.resource, rows);
    if (batch.resource === resource) restored = rows.get(id) ?? restored;
  }
  for (const each of resources)
    await store.deletedRows.forget(session, { resource: each, tenantId, deletedWith: id });
  if (restored !== undefined)
    return resource.keptCounts.length > 0 ? context.reread(resource, id, restored) : restored;
  throw new Problem(
    "conflict",
    `The ${resource.title} was deleted with another row. Restore that row, which restores this one.`,
  );
}

/** The batches in which rows were deleted with a row, the last one first: a batch refers to those before it at most. */
async function batchesOf(
  { store, session, caller }: WriteContext,
  resources: readonly ResourceModel[],
  deletedWith: string,
): Promise<readonly { readonly resource: ResourceModel; readonly order: number }[]> {
  const batches: { resource: ResourceModel; order: number }[] = [];
  for (const resource of resources) {
    const deletion = { resource, tenantId: caller.tenantId, deletedWith };
    for (const order of await store.deletedRows.batches(session, deletion)) batches.push({ resource, order });
  }
  return batches.sort((one, other) => other.order - one.order);
}

/** @throws Problem `conflict` with a detail for each reference to a row that was deleted since */
async function requireReferences(
  { store, session, caller }: WriteContext,
  resource: ResourceModel,
  row: RowValues,
): Promise<void> {
  const references = resource.references.filter((each) => !isCleared(each));
  const invalid = await invalidReferences(store, session, caller, references, row, () => false);
  if (invalid.length === 0) return;
  const names = invalid.map(({ field }) => field);
  const details = names.map((field) => ({ field, issue: "reference" as const }));
  const message = `The ${resource.title} cannot be restored: ${names.join(" and ")} refers to a row that was deleted, too. Restore that row first.`;
  throw new Problem("conflict", message, details);
}
