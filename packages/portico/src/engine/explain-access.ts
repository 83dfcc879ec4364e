// Why a caller cannot read or write a row: the policies that apply, and the condition that the row does not meet.

import type { Caller } from "../declare/caller.ts";
import type { PolicyOperation, PolicyRule, ResourceModel } from "../model/model.ts";
import { type Condition, isComparison } from "../query/condition.ts";
import { conditionsText } from "../query/condition-text.ts";
import type { Store } from "../store/store.ts";
import { amongDeleted } from "./deleted-conditions.ts";
import { ruleConditions } from "./policy.ts";

/** A policy, and what it demands of rows for a caller. */
export interface AppliedPolicy {
  /** The name of the resource that declares it. */
  readonly resource: string;
  /** What it is called: `policy`, or `policy for write`. */
  readonly policy: string;
  /** `true` for all rows, `false` for none. */
  readonly condition: string;
}

/** A rule of a resource or one of its parents, with the way from the row to the rows that it decides about. */
interface Rule {
  readonly resource: ResourceModel;
  readonly rule: PolicyRule;
  /** Turns a condition on those rows into one on the row. */
  readonly onRow: (condition: Condition) => Condition;
}

/** The policies that apply to an operation of a caller: the own one and, where it is inherited, those of the parents. */
export function appliedPolicies(
  caller: Caller,
  resource: ResourceModel,
  operation: PolicyOperation = "read",
): readonly AppliedPolicy[] {
  return rulesOf(resource, operation).map(({ resource: declaring, rule }) => ({
    resource: declaring.name,
    policy: rule.label,
    condition: conditionsText(ruleConditions(caller, declaring, rule)),
  }));
}

/**
 * The first policy that a row does not meet, with the part of its condition that fails.
 * @returns undefined if the row meets all of them; "missing" if the tenant has no such row
 */
export async function failingPolicy(
  store: Store,
  caller: Caller,
  resource: ResourceModel,
  id: string,
  operation: PolicyOperation,
): Promise<AppliedPolicy | "missing" | undefined> {
  const { deletedOf, parent } = resource;
  const meets = async (all: readonly Condition[]): Promise<boolean> => {
    const conditions = deletedOf ? amongDeleted(all) : all;
    return (await store.filterIds(caller.tenantId, resource, { ids: [id], conditions })).has(id);
  };
  // A deleted row whose parent is deleted cannot be asked for.
  const isReachable: readonly Condition[] =
    deletedOf && parent ? [{ attribute: parent, operator: "is", conditions: [] }] : [];
  if (!(await meets(isReachable))) return "missing";
  for (const { resource: declaring, rule, onRow } of rulesOf(resource, operation)) {
    const failing = await firstFailing(ruleConditions(caller, declaring, rule), onRow, meets);
    if (failing)
      return { resource: declaring.name, policy: rule.label, condition: conditionsText([failing]) };
  }
  return undefined;
}

/** Without an own rule for a write, that for an update of the parent decides. */
function rulesOf(resource: ResourceModel, operation: PolicyOperation): readonly Rule[] {
  const { deletedOf } = resource;
  if (deletedOf) {
    // Who may read and delete the rows may ask for them when they are deleted.
    const [reading, deleting] = [rulesOf(deletedOf, "read"), rulesOf(deletedOf, "delete")];
    return [...reading, ...deleting.filter(({ rule }) => reading.every((each) => each.rule !== rule))];
  }
  const rules: Rule[] = [];
  let current: ResourceModel | undefined = resource;
  let decides = operation;
  let onRow: Rule["onRow"] = (condition) => condition;
  while (current) {
    const { policy, parent, inheritsPolicy }: ResourceModel = current;
    const rule = policy[decides];
    if (rule) rules.push({ resource: current, rule, onRow });
    if (!parent || !inheritsPolicy || (rule && operation !== "read")) break;
    const outer: Rule["onRow"] = onRow;
    onRow = (condition) => outer({ attribute: parent, operator: "is", conditions: [condition] });
    current = parent.reference!.target;
    if (operation !== "read") decides = "update";
  }
  return rules;
}

/** The smallest condition that must be met and is not. */
async function firstFailing(
  conditions: readonly Condition[],
  onRow: Rule["onRow"],
  meets: (conditions: readonly Condition[]) => Promise<boolean>,
): Promise<Condition | undefined> {
  for (const condition of conditions) {
    if (await meets([onRow(condition)])) continue;
    if (isComparison(condition) || condition.operator !== "and") return condition;
    return (await firstFailing(condition.conditions, onRow, meets)) ?? condition;
  }
  return undefined;
}
