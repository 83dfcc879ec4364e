// The rows that code of declarations changes or deletes by a condition.

import { Problem } from "../errors.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import type { ResourceModel } from "../model/model.ts";
import { areDecidedByRow, type Condition } from "../query/condition.ts";
import type { Lock } from "../store/dialect.ts";
import { batchesOfIds } from "./row-ids.ts";
import { parseStored, storedSelection } from "./stored-row.ts";
import type { LockedRow, WriteContext } from "./write-context.ts";

/** Rows that one operation writes. Each has an event, and all of them are one transaction. */
const maxWritten = 10_000;

/** Rows that are read and written with one statement each. */
const maxTogether = 100;

/**
 * The rows that meet conditions, oldest first, each locked before it is returned. All are found before the first is
 * returned; one that no longer meets those of the conditions that its own values decide is left out, because a write of
 * another row, or of another transaction, has changed it. Related rows are not read again: a row that is written may be
 * what the others depend on.
 *
 * @param areIndependent whether a write of one of the rows cannot change another: they are returned in larger batches,
 *   otherwise one by one
 * @throws Problem `conflict` for too many rows
 */
export async function* lockedRows(
  { store, session, caller }: WriteContext,
  resource: ResourceModel,
  conditions: readonly Condition[],
  lock: Lock,
  areIndependent: boolean,
): AsyncGenerator<readonly LockedRow[]> {
  const ids: string[] = [];
  for await (const batch of batchesOfIds(store, session, caller.tenantId, { resource, conditions })) {
    ids.push(...batch);
    if (ids.length > maxWritten)
      throw new Problem(
        "conflict",
        `More than ${maxWritten} rows of ${resource.segment} would be written together.`,
      );
  }
  const slice = new TimeSlice();
  const ofRow = conditions.filter((condition) => areDecidedByRow([condition]));
  const size = areIndependent ? Math.min(maxTogether, store.writes.maxTogether(resource)) : 1;
  for (let start = 0; start < ids.length; start += size) {
    if (slice.isOver) await slice.yield();
    const together = ids.slice(start, start + size);
    const read = { resource, selection: storedSelection(resource), ids: together, conditions: ofRow };
    const texts = await store.getManyLocked(caller.tenantId, read, session, lock);
    yield [...texts.values()].map((text) => parseStored(text) as LockedRow);
  }
}
