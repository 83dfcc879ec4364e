// Which rows of events a caller may see. The row of the event decides about its own fields, and the present rows decide
// about its parents: a row whose parent has been deleted or hidden since is hidden with it.

import type { Caller } from "../declare/caller.ts";
import type { ResourceModel } from "../model/model.ts";
import { isComparison, type ReferenceCondition } from "../query/read.ts";
import type { RowValues } from "../query/write.ts";
import type { Store } from "../store/store.ts";
import { policyConditions } from "./policy.ts";
import { satisfiesAll } from "./row-conditions.ts";

/** Whether each of the rows is visible. One statement for each resource reads the parents of all rows. */
export async function areVisible(
  store: Store,
  caller: Caller,
  resource: ResourceModel,
  rows: readonly RowValues[],
): Promise<readonly boolean[]> {
  const conditions = policyConditions(caller, resource);
  const own = conditions.filter(isComparison);
  const visible = rows.map((row) => satisfiesAll(own, row));
  for (const condition of conditions) {
    if (isComparison(condition)) continue;
    const remaining = rows.filter((_, index) => visible[index]);
    const matchingIds = await referredIds(store, caller.tenantId, condition, remaining);
    rows.forEach((row, index) => {
      visible[index] &&= matchingIds.has(row[condition.attribute.name] as string);
    });
  }
  return visible;
}

/** The ids of the referenced rows that exist and meet the condition. */
function referredIds(
  store: Store,
  tenantId: string,
  { attribute, conditions }: ReferenceCondition,
  rows: readonly RowValues[],
): Promise<ReadonlySet<string>> {
  const ids = new Set(rows.map((row) => row[attribute.name]).filter((id) => typeof id === "string"));
  return store.filterIds(tenantId, attribute.reference!.target, { ids: [...ids], conditions });
}
