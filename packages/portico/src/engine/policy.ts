// Policies define which rows of a resource a caller may see and write. They become conditions of every statement. A row
// is visible only if its parent is, up to the root, unless its resource does not inherit policies.

import type { Caller } from "../declare/caller.ts";
import { valueKey } from "../lib/value-key.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import { allowedValues } from "../model/policy.ts";
import type { Comparison, Condition, ReferenceCondition } from "../query/condition.ts";

const none: readonly never[] = Object.freeze([]);

/** The conditions that the policies of a resource and its parents add to every read and write of a caller. */
export function policyConditions(caller: Caller, resource: ResourceModel): readonly Condition[] {
  if (!resource.isRestricted) return none;
  const own = ownPolicyConditions(caller, resource);
  const inherited = inheritedPolicyCondition(caller, resource);
  return inherited ? [...own, inherited] : own;
}

/** The conditions that the own policy of a resource adds. */
export function ownPolicyConditions(caller: Caller, resource: ResourceModel): readonly Comparison[] {
  if (!resource.policy) return none;
  return allowedValues(resource, caller).map(({ attribute, values }) => ({
    attribute,
    operator: "in",
    values,
  }));
}

/** The condition that the parent of a row is visible; undefined if every parent is. */
function inheritedPolicyCondition(
  caller: Caller,
  { parent, inheritsPolicy }: ResourceModel,
): ReferenceCondition | undefined {
  if (!parent || !inheritsPolicy) return undefined;
  const conditions = policyConditions(caller, parent.reference!.target);
  return conditions.length === 0 ? undefined : { attribute: parent, operator: "is", conditions };
}

/** Identifies what the policies of a model allow a caller: callers with the same key see the same rows. */
export function policyKey({ resources }: Model, caller: Caller): string {
  const restricting = resources.filter(({ policy }) => policy);
  return valueKey(
    restricting.map((resource) =>
      // Not the result of the policy itself, because different results can mean the same.
      allowedValues(resource, caller).map(({ attribute, values }) => [attribute.name, values]),
    ),
  );
}
