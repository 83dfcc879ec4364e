// Which rows of events a caller may see. The row of the event decides about its own fields, and the present rows decide
// about its parents: a row whose parent has been deleted or hidden since is hidden with it. About a parent that was
// deleted together with the row, its last values decide.

import type { Caller } from "../declare/caller.ts";
import type { ResourceModel } from "../model/model.ts";
import { type Condition, isComparison, type ReferenceCondition } from "../query/read.ts";
import type { RowValues } from "../query/write.ts";
import type { Store } from "../store/store.ts";
import { policyConditions } from "./policy.ts";
import { satisfiesAll } from "./row-conditions.ts";

/** A row as an event recorded it. */
export interface EventRow {
  readonly row: RowValues;
  /** The parents that were deleted together with the row, nearest first. */
  readonly deletedParents: readonly RowValues[];
}

/** Whether each of the rows is visible. One statement for each resource reads the parents of all rows. */
export function areVisible(
  store: Store,
  caller: Caller,
  resource: ResourceModel,
  rows: readonly EventRow[],
): Promise<readonly boolean[]> {
  return meetConditions(store, caller.tenantId, policyConditions(caller, resource), rows);
}

async function meetConditions(
  store: Store,
  tenantId: string,
  conditions: readonly Condition[],
  rows: readonly EventRow[],
): Promise<readonly boolean[]> {
  const own = conditions.filter(isComparison);
  let visible: readonly EventRow[] = rows.filter(({ row }) => satisfiesAll(own, row));
  for (const condition of conditions)
    if (!isComparison(condition)) visible = await withVisibleParent(store, tenantId, condition, visible);
  const set = new Set(visible);
  return rows.map((each) => set.has(each));
}

/** The rows whose parent meets the condition. */
async function withVisibleParent(
  store: Store,
  tenantId: string,
  { attribute, conditions }: ReferenceCondition,
  rows: readonly EventRow[],
): Promise<readonly EventRow[]> {
  const parentId = ({ row }: EventRow): unknown => row[attribute.name];
  const orphans = new Map<EventRow, EventRow>();
  for (const each of rows) {
    const [parent, ...further] = each.deletedParents;
    if (parent && parent.id === parentId(each)) orphans.set(each, { row: parent, deletedParents: further });
  }
  const parents = [...orphans.values()];
  const areMet = await meetConditions(store, tenantId, conditions, parents);
  const visibleParents = new Set(parents.filter((_, index) => areMet[index]));
  const ids = new Set(
    rows
      .filter((each) => !orphans.has(each))
      .map(parentId)
      .filter((id) => typeof id === "string"),
  );
  const visibleIds = await store.filterIds(tenantId, attribute.reference!.target, {
    ids: [...ids],
    conditions,
  });
  return rows.filter((each) => {
    const deletedParent = orphans.get(each);
    return deletedParent ? visibleParents.has(deletedParent) : visibleIds.has(String(parentId(each)));
  });
}
