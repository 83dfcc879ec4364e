// The rows that refer to a row and outlive it: before it is deleted, it is taken off their many-to-many fields, and their
// references to it become null.

import { isId } from "../lib/id.ts";
import type { Dependent, ResourceModel } from "../model/model.ts";
import type { Condition } from "../query/condition.ts";
import { select } from "../query/selection.ts";
import { batchesOfIds } from "./row-ids.ts";
import type { WriteContext } from "./write-context.ts";

/**
 * Takes a row that is about to be deleted off the many-to-many fields that have it, unless they keep it from being
 * deleted. Each changed row has an event; its hooks do not run, and policies do not keep it as it is.
 *
 * @param count counts rows before they are changed
 */
export async function takeOffLinkedRows(
  context: WriteContext,
  resource: ResourceModel,
  id: string,
  count: (ids: readonly string[]) => Promise<void>,
): Promise<void> {
  const { store, session, caller, now } = context;
  for (const dependent of takenOffFrom(resource)) {
    const { resource: linked, attribute } = dependent;
    const selection = select([attribute]);
    for (;;) {
      const ids = await store.linked.ids(session, caller.tenantId, dependent, id);
      if (ids.length === 0) break;
      await count(ids);
      for (const each of ids) {
        const read = { resource: linked, selection, id: each, conditions: [] };
        const text = await store.getLocked(caller.tenantId, read, session, "update");
        if (text === undefined) continue;
        const present: readonly string[] = JSON.parse(text)[attribute.name];
        const values = { [attribute.name]: present.filter((one) => one !== id), updatedAt: now };
        await context.update(linked, each, values, "updated", false);
      }
    }
  }
}

/**
 * Sets references with `onDelete: "setNull"` to null before their row is deleted. Each changed row has an event; its
 * hooks do not run, and its policies are not checked.
 *
 * @param count counts rows before they are changed
 */
export async function clearReferences(
  context: WriteContext,
  { clearedReferences }: ResourceModel,
  id: string,
  count: (ids: readonly string[]) => Promise<void>,
): Promise<void> {
  const { store, session, caller, now } = context;
  const { tenantId } = caller;
  for (const { resource, attribute } of clearedReferences) {
    const conditions: Condition[] = [{ attribute, operator: "in", values: [id] }];
    const values = { [attribute.name]: null, updatedAt: now };
    for await (const listed of batchesOfIds(store, session, tenantId, { resource, conditions })) {
      const read = { ids: listed, conditions };
      const referring = await store.filterIds(tenantId, resource, read, session, "update");
      const ids = listed.filter((each) => referring.has(each));
      await count(ids);
      const texts = await store.writes.updateMany(session, { resource, tenantId, ids, values });
      await context.recordUpdated(resource, texts);
    }
  }
}

/**
 * Locks the rows that the deletion of a row changes or deletes, and whose own writes lock the row: those that have it in a
 * many-to-many field or a reference that becomes null, and those that it counts. Call it before the row is locked, so that
 * both lock in one order; otherwise each would wait for the other until the database finds the deadlock.
 *
 * @param limit rows of each resource; a deletion of more is refused
 */
export async function lockReferringRows(
  { store, session, caller }: WriteContext,
  resource: ResourceModel,
  id: string,
  limit: number,
): Promise<void> {
  const { keptCounts, linkedFrom, clearedReferences } = resource;
  if (keptCounts.length + linkedFrom.length + clearedReferences.length === 0) return;
  // Another database has one writer at a time.
  if (!store.database.isRemote || resource.markOnDelete || !isId(id)) return;
  const { tenantId } = caller;
  for (const each of countedAndDeleted(resource))
    await store.linked.lock(session, tenantId, each, id, { lock: "delete", limit });
  for (const each of [...takenOffFrom(resource), ...clearedReferences])
    await store.linked.lock(session, tenantId, each, id, { lock: "update", limit });
}

/** The many-to-many fields that a row is taken off when it is deleted. */
function takenOffFrom({ linkedFrom }: ResourceModel): readonly Dependent[] {
  return linkedFrom.filter(
    ({ attribute: { field } }) => field.kind !== "manyToMany" || field.options.onDelete !== "restrict",
  );
}

/** The references of rows that a row counts, and that are deleted with it. */
function countedAndDeleted({ keptCounts, children, dependents }: ResourceModel): readonly Dependent[] {
  const references = new Map(
    keptCounts.map(({ resource, reference }) => [reference, { resource, attribute: reference }]),
  );
  return [...references.values()].filter(
    ({ resource, attribute }) =>
      (children.includes(resource) && resource.parent === attribute) ||
      dependents.some((dependent) => dependent.attribute === attribute),
  );
}
