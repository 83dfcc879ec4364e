// Policies: which rows of a resource a caller may see and write. They become conditions of every statement. A row that
// stands under another is visible only where that one is, all the way up, unless its declaration says otherwise.

import type { Caller } from "../declare/caller.ts";
import { valueKey } from "../lib/value-key.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import { allowedValues } from "../model/policy.ts";
import type { Comparison, Condition, ReferenceCondition } from "../query/read.ts";

const none: readonly never[] = Object.freeze([]);

/** What the policies of a resource and of those above it add to every read and write of a caller. */
export function policyConditions(caller: Caller, resource: ResourceModel): readonly Condition[] {
  if (!resource.isRestricted) return none;
  const own = ownPolicyConditions(caller, resource);
  const inherited = inheritedPolicyCondition(caller, resource);
  return inherited ? [...own, inherited] : own;
}

/** What the policy of the resource itself adds. */
export function ownPolicyConditions(caller: Caller, resource: ResourceModel): readonly Comparison[] {
  if (!resource.policy) return none;
  return allowedValues(resource, caller).map(({ attribute, values }) => ({
    attribute,
    operator: "in",
    values,
  }));
}

/** The row that a row stands under is visible itself; undefined where that needs no look. */
export function inheritedPolicyCondition(
  caller: Caller,
  { parent, inheritsPolicy }: ResourceModel,
): ReferenceCondition | undefined {
  if (!parent || !inheritsPolicy) return undefined;
  const conditions = policyConditions(caller, parent.reference!.target);
  return conditions.length === 0 ? undefined : { attribute: parent, operator: "is", conditions };
}

/** Tells callers apart by what the policies of a model leave to them: those with one key see the same rows. */
export function policyKey({ resources }: Model, caller: Caller): string {
  const restricting = resources.filter(({ policy }) => policy);
  return valueKey(
    restricting.map((resource) =>
      // Not the answer of the policy itself, of which two can mean the same.
      allowedValues(resource, caller).map(({ attribute, values }) => [attribute.name, values]),
    ),
  );
}
