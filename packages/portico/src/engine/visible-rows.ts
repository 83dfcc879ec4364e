// Which rows of events a caller may see. The row of the event decides about its own fields, and the present rows decide
// about related rows: a row whose parent has been deleted or hidden since is hidden with it. About a parent that was
// deleted together with the row, its last values decide.

import type { Caller } from "../declare/caller.ts";
import type { ResourceModel } from "../model/model.ts";
import {
  areDecidedByRow,
  type Condition,
  isComparison,
  isRelated,
  type ReferenceCondition,
  type RelatedCondition,
} from "../query/condition.ts";
import type { RowValues } from "../query/write.ts";
import type { Store } from "../store/store.ts";
import { relatedWithPolicies } from "./authorize.ts";
import { policyConditions } from "./policy.ts";
import { evaluateAll, type Verdict } from "./row-conditions.ts";

/** A row as an event recorded it. */
export interface EventRow {
  readonly row: RowValues;
  /** The parents that were deleted together with the row, nearest first. */
  readonly deletedParents: readonly RowValues[];
}

/**
 * Whether each of the rows is visible and meets further conditions. One statement for each condition on related rows
 * reads those of all rows.
 */
export async function areVisible(
  store: Store,
  caller: Caller,
  resource: ResourceModel,
  rows: readonly EventRow[],
  conditions: readonly Condition[] = [],
): Promise<readonly boolean[]> {
  const all = [...relatedWithPolicies(caller, conditions), ...policyConditions(caller, resource)];
  const verdicts = await evaluateRows(store, caller.tenantId, all, rows);
  // A row that does not have a value that a condition compares is hidden.
  return verdicts.map((verdict) => verdict === true);
}

async function evaluateRows(
  store: Store,
  tenantId: string,
  conditions: readonly Condition[],
  rows: readonly EventRow[],
): Promise<readonly Verdict[]> {
  const byRow = rows.map(({ row }) => evaluateAll(conditions, row));
  const undecided = rows.filter((_, index) => byRow[index] === undefined);
  if (undecided.length === 0 || areDecidedByRow(conditions)) return byRow;
  const related = new Map<RelatedCondition, ReadonlyMap<EventRow, Verdict>>();
  for (const condition of relatedConditions(conditions))
    related.set(condition, await evaluateRelated(store, tenantId, condition, undecided));
  return rows.map(
    (each, index) =>
      byRow[index] ?? evaluateAll(conditions, each.row, (condition) => related.get(condition)?.get(each)),
  );
}

/** The conditions on rows that are related to the row itself. */
function relatedConditions(conditions: readonly Condition[]): readonly RelatedCondition[] {
  return conditions.flatMap((condition) => {
    if (isComparison(condition)) return [];
    return isRelated(condition) ? [condition] : relatedConditions(condition.conditions);
  });
}

async function evaluateRelated(
  store: Store,
  tenantId: string,
  condition: RelatedCondition,
  rows: readonly EventRow[],
): Promise<ReadonlyMap<EventRow, Verdict>> {
  const key = condition.operator === "is" ? condition.attribute.name : "id";
  const verdicts =
    condition.operator === "is"
      ? await evaluateDeletedParents(store, tenantId, condition, rows)
      : new Map<EventRow, Verdict>();
  const others = rows.filter((each) => !verdicts.has(each) && typeof each.row[key] === "string");
  const { conditions } = condition;
  const ids = [...new Set(others.map(({ row }) => String(row[key])))];
  const matching =
    condition.operator === "is"
      ? await store.filterIds(tenantId, condition.attribute.reference!.target, { ids, conditions })
      : await store.filterReferred(tenantId, condition, { ids, conditions });
  for (const each of others) verdicts.set(each, matching.has(String(each.row[key])));
  return verdicts;
}

/** The verdicts about the rows whose referenced row was deleted together with them. */
async function evaluateDeletedParents(
  store: Store,
  tenantId: string,
  { attribute, conditions }: ReferenceCondition,
  rows: readonly EventRow[],
): Promise<Map<EventRow, Verdict>> {
  const orphans: EventRow[] = [];
  const parents: EventRow[] = [];
  for (const each of rows) {
    const [parent, ...further] = each.deletedParents;
    if (!parent || parent.id !== each.row[attribute.name]) continue;
    orphans.push(each);
    parents.push({ row: parent, deletedParents: further });
  }
  const verdicts = await evaluateRows(store, tenantId, conditions, parents);
  return new Map(orphans.map((orphan, index) => [orphan, verdicts[index]]));
}
