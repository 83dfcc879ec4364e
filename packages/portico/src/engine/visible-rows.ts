// Which rows of events a caller may see. The row of the event decides about its own fields, and the present rows decide
// about related rows: a row whose parent has been deleted or hidden since is hidden with it. About rows that were deleted
// together with the row, their last values decide. If this can no longer be determined, the row is hidden.

import type { Caller } from "../declare/caller.ts";
import { type DeletedTogether, type Deletion, transactionKey } from "../events/deleted-together.ts";
import { isDetached } from "../model/deletion.ts";
import type { ResourceModel } from "../model/model.ts";
import {
  areDecidedByRow,
  type Condition,
  isComparison,
  isRelated,
  type ReferenceCondition,
  type RelatedCondition,
  relatedResource,
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
  /** The deletion of the row, if others were deleted together with it. */
  readonly deletion?: Deletion | undefined;
  /** Whether the row is recorded as it was when it was deleted. */
  readonly isDeletion?: boolean;
}

/** Where related rows are read. */
interface Sources {
  readonly store: Store;
  readonly deletedTogether: DeletedTogether;
  readonly tenantId: string;
}

/**
 * Whether each of the rows is visible and meets further conditions. One statement for each condition on related rows
 * reads those of all rows.
 */
export async function areVisible(
  sources: Sources,
  caller: Caller,
  resource: ResourceModel,
  rows: readonly EventRow[],
  conditions: readonly Condition[] = [],
): Promise<readonly boolean[]> {
  const all = [...relatedWithPolicies(caller, conditions), ...policyConditions(caller, resource)];
  const verdicts = await evaluateRows(sources, { resource, conditions: all, isNegated: false }, rows);
  // A row that does not have a value that a condition compares is hidden.
  return verdicts.map((verdict) => verdict === true);
}

/** Conditions on rows of a resource. */
interface Evaluation {
  readonly resource: ResourceModel;
  readonly conditions: readonly Condition[];
  /** Whether rows are visible that do not meet the conditions. */
  readonly isNegated: boolean;
}

async function evaluateRows(
  sources: Sources,
  evaluation: Evaluation,
  rows: readonly EventRow[],
): Promise<readonly Verdict[]> {
  const { conditions } = evaluation;
  const byRow = rows.map(({ row }) => evaluateAll(conditions, row));
  const undecided = rows.filter((_, index) => byRow[index] === undefined);
  if (undecided.length === 0 || areDecidedByRow(conditions)) return byRow;
  const related = new Map<RelatedCondition, ReadonlyMap<EventRow, Verdict>>();
  for (const each of relatedConditions(evaluation))
    related.set(each.condition, await evaluateRelated(sources, each, undecided));
  return rows.map(
    (each, index) =>
      byRow[index] ?? evaluateAll(conditions, each.row, (condition) => related.get(condition)?.get(each)),
  );
}

interface RelatedEvaluation extends Omit<Evaluation, "conditions"> {
  readonly condition: RelatedCondition;
}

/** The conditions on rows that are related to the row itself. */
function relatedConditions({ conditions, ...others }: Evaluation): readonly RelatedEvaluation[] {
  return conditions.flatMap((condition) => {
    if (isComparison(condition)) return [];
    if (isRelated(condition)) return [{ ...others, condition }];
    const isNegated = others.isNegated !== (condition.operator === "not");
    return relatedConditions({ ...others, isNegated, conditions: condition.conditions });
  });
}

async function evaluateRelated(
  sources: Sources,
  evaluation: RelatedEvaluation,
  rows: readonly EventRow[],
): Promise<ReadonlyMap<EventRow, Verdict>> {
  const { condition, isNegated } = evaluation;
  const verdicts =
    condition.operator === "is"
      ? await evaluateDeletedParents(sources, condition, isNegated, rows)
      : new Map<EventRow, Verdict>();
  const others = rows.filter((each) => !verdicts.has(each) && keysOf(condition, each) !== undefined);
  const matching = await matchingKeys(sources, condition, others);
  for (const each of others)
    verdicts.set(
      each,
      keysOf(condition, each)!.some((key) => matching.has(key)),
    );
  const unmatched = others.filter((each) => each.deletion && verdicts.get(each) === false);
  for (const [each, verdict] of await evaluateDeleted(sources, condition, isNegated, unmatched))
    verdicts.set(each, verdict);
  if (!isNegated) return verdicts;
  const unmet = others.filter((each) => verdicts.get(each) === false);
  for (const each of await withoutRelatedRows(sources, evaluation, unmet)) verdicts.set(each, undefined);
  return verdicts;
}

/**
 * The rows for which it can no longer be determined whether related rows met the condition, because these or the row itself
 * have been deleted. A row that the condition hid must not become visible by that.
 */
async function withoutRelatedRows(
  { store, deletedTogether, tenantId }: Sources,
  { resource, condition }: RelatedEvaluation,
  rows: readonly EventRow[],
): Promise<readonly EventRow[]> {
  const target = relatedResource(condition);
  const present = async (of: ResourceModel, ids: readonly string[]): Promise<ReadonlySet<string>> =>
    store.filterIds(tenantId, of, { ids: [...new Set(ids)], conditions: [] });
  if (!isNamedByRow(condition)) {
    const isLost = !target.recordsEvents || isDetached(target, condition.attribute);
    const doubtful = rows.filter(({ isDeletion }) => !isDeletion || isLost);
    const ids = await present(
      resource,
      doubtful.map(({ row }) => String(row.id)),
    );
    return doubtful.filter(({ row }) => !ids.has(String(row.id)));
  }
  const ids = await present(
    target,
    rows.flatMap((each) => keysOf(condition, each)!),
  );
  const missing: EventRow[] = [];
  for (const each of rows) {
    const others = keysOf(condition, each)!.filter((key) => !ids.has(key));
    if (others.length === 0) continue;
    const deleted = each.deletion ? await deletedTogether.rowsOf(target, each.deletion) : none;
    const known = new Set(deleted.map(({ id }) => id));
    if (!others.every((key) => known.has(key))) missing.push(each);
  }
  return missing;
}

/** The ids by which a row is related to others. */
function keysOf(condition: RelatedCondition, { row }: EventRow): readonly string[] | undefined {
  const key = row[isNamedByRow(condition) ? condition.attribute.name : "id"];
  if (Array.isArray(key)) return key;
  return typeof key === "string" ? [key] : undefined;
}

/** Whether the row has the ids of the related rows, and not these that of the row. */
function isNamedByRow({ operator, attribute }: RelatedCondition): boolean {
  return operator === "is" || attribute.links !== undefined;
}

/** The ids to which present rows are related that meet the condition. */
function matchingKeys(
  { store, tenantId }: Sources,
  condition: RelatedCondition,
  rows: readonly EventRow[],
): Promise<ReadonlySet<string>> {
  const { conditions } = condition;
  const ids = [...new Set(rows.flatMap((each) => keysOf(condition, each)!))];
  return condition.operator === "is" || condition.attribute.links
    ? store.filterIds(tenantId, relatedResource(condition), { ids, conditions })
    : store.filterReferred(tenantId, condition, { ids, conditions });
}

/** The verdicts about the rows whose parent was deleted together with them, and recorded with their events. */
async function evaluateDeletedParents(
  sources: Sources,
  { attribute, conditions }: ReferenceCondition,
  isNegated: boolean,
  rows: readonly EventRow[],
): Promise<Map<EventRow, Verdict>> {
  const orphans: EventRow[] = [];
  const parents: EventRow[] = [];
  for (const each of rows) {
    const [parent, ...further] = each.deletedParents;
    if (!parent || parent.id !== each.row[attribute.name]) continue;
    orphans.push(each);
    parents.push({ row: parent, deletedParents: further, deletion: each.deletion, isDeletion: true });
  }
  const { target: resource } = attribute.reference!;
  const verdicts = await evaluateRows(sources, { resource, conditions, isNegated }, parents);
  return new Map(orphans.map((orphan, index) => [orphan, verdicts[index]]));
}

/** The verdicts about the rows to which rows are related that were deleted together with them. */
async function evaluateDeleted(
  sources: Sources,
  condition: RelatedCondition,
  isNegated: boolean,
  rows: readonly EventRow[],
): Promise<Map<EventRow, Verdict>> {
  const verdicts = new Map<EventRow, Verdict>();
  const { conditions, attribute } = condition;
  const resource = relatedResource(condition);
  const key = isNamedByRow(condition) ? "id" : attribute.name;
  for (const together of Map.groupBy(rows, ({ deletion }) => transactionKey(deletion!)).values()) {
    const { deletion } = together[0]!;
    const keys = new Set(together.flatMap((each) => keysOf(condition, each)));
    const deleted = await sources.deletedTogether.rowsOf(resource, deletion!);
    const related = deleted
      .filter((row) => keys.has(String(row[key])))
      .map((row): EventRow => ({ row, deletedParents: none, deletion, isDeletion: true }));
    const ofRelated = await evaluateRows(sources, { resource, conditions, isNegated }, related);
    const byKey = Map.groupBy(ofRelated.keys(), (index) => String(related[index]!.row[key]));
    for (const each of together) {
      const indexes = keysOf(condition, each)!.flatMap((one) => byKey.get(one) ?? []);
      const found = indexes.map((index) => ofRelated[index]);
      if (found.includes(true)) verdicts.set(each, true);
      else if (found.includes(undefined)) verdicts.set(each, undefined);
    }
  }
  return verdicts;
}

const none: readonly never[] = Object.freeze([]);
