// Updates many rows with the same values. On PostgreSQL a batch takes three round trips, instead of two for each row.

import type { ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import type { LockedRow, WriteContext } from "./write-context.ts";
import type { WritePolicy } from "./write-policy.ts";

/**
 * Whether changes are the same for all rows, and nothing but the rows themselves takes part in the update. Hooks can
 * write other rows, the search index and files are derived from the whole row, members of JSON are merged with those of
 * the row, and references are checked if the row changes them.
 */
export function areUpdatedTogether(resource: ResourceModel, changes: RowValues): boolean {
  const { hooks, keptCounts, attribute, search, references, links } = resource;
  if (hooks.before?.update || hooks.after?.update || keptCounts.length > 0) return false;
  const differing = new Set([...search, ...references, ...links]);
  return Object.keys(changes).every((name) => {
    const changed = attribute.get(name);
    return changed && !differing.has(changed) && !["json", "file"].includes(changed.field.kind);
  });
}

/**
 * Updates locked rows with the same values, which `areUpdatedTogether` allows.
 *
 * @throws Problem `forbidden`
 */
export async function updateTogether(
  context: WriteContext,
  policy: WritePolicy,
  resource: ResourceModel,
  rows: readonly LockedRow[],
  changes: RowValues,
): Promise<void> {
  const { store, session, caller, now } = context;
  const values = { ...changes, updatedAt: now };
  await policy.requireAllWritable(resource, "update", rows);
  const results = rows.map((row) => ({ ...row, ...values }));
  const requireStored = policy.requireResults(resource, "update", results);
  const update = { resource, tenantId: caller.tenantId, ids: rows.map(({ id }) => id), values };
  await context.recordUpdated(resource, await store.writes.updateMany(session, update));
  await requireStored();
}
