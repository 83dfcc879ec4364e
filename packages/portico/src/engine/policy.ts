// Policies define which rows of a resource a caller may read and write. They become conditions of every statement. A row
// is visible only if its parent is, up to the root, unless its resource does not inherit policies.

import type { Caller } from "../declare/caller.ts";
import { OperatorError } from "../errors.ts";
import { valueKey } from "../lib/value-key.ts";
import type { Model, PolicyRule, ResourceModel, WriteOperation } from "../model/model.ts";
import { type Condition, conditionKeys, isComparison, never } from "../query/condition.ts";
import { describeValue, isPlainObject } from "../query/plain-object.ts";
import { parseWhere } from "../query/where.ts";
import type { WhereOptions } from "../query/where-context.ts";
import { amongDeleted } from "./deleted-conditions.ts";

const none: readonly never[] = Object.freeze([]);
const nothing: readonly Condition[] = Object.freeze([never]);

/** The conditions that the policies of a resource and its parents add to every read of a caller. */
export function policyConditions(caller: Caller, resource: ResourceModel): readonly Condition[] {
  if (!resource.isRestricted) return none;
  if (resource.deletedOf) return deletedRowConditions(caller, resource.deletedOf);
  const own = ownPolicyConditions(caller, resource);
  const { parent, inheritsPolicy } = resource;
  if (!parent || !inheritsPolicy) return own;
  return [...own, ...ofParent(resource, policyConditions(caller, parent.reference!.target))];
}

/**
 * The conditions for deleted rows: those for reading and for deleting the rows that they were, whose parents still exist.
 * What decided by rows that were deleted with a row is read from these.
 */
function deletedRowConditions(caller: Caller, resource: ResourceModel): readonly Condition[] {
  const { parent } = resource;
  const policies = [...policyConditions(caller, resource), ...writeConditions(caller, resource, "delete")];
  const hasParent: Condition[] = parent ? [{ attribute: parent, operator: "is", conditions: [] }] : [];
  return [...amongDeleted(policies), ...hasParent];
}

/** The conditions that the own policy of a resource adds to every read. */
export function ownPolicyConditions(caller: Caller, resource: ResourceModel): readonly Condition[] {
  return ruleConditions(caller, resource, resource.policy.read);
}

/**
 * The conditions for a write that a row must meet apart from those for reading: those of the own policy for the write, or,
 * without one, those for an update of the parent.
 */
export function writeConditions(
  caller: Caller,
  resource: ResourceModel,
  operation: WriteOperation,
): readonly Condition[] {
  const { policy, parent, inheritsPolicy, refusable } = resource;
  if (!refusable.has(operation)) return none;
  const rule = policy[operation];
  if (rule) return rule === policy.read ? none : ruleConditions(caller, resource, rule);
  if (!parent || !inheritsPolicy) return none;
  return ofParent(resource, writeConditions(caller, parent.reference!.target, "update"));
}

/** The conditions that the result of a write must meet, whose parent the caller could read before. */
export function resultConditions(
  caller: Caller,
  resource: ResourceModel,
  operation: WriteOperation,
): readonly Condition[] {
  if (!resource.refusable.has(operation)) return none;
  const { parent, inheritsPolicy } = resource;
  const own = ownPolicyConditions(caller, resource);
  const write = writeConditions(caller, resource, operation);
  const inherited = parent && inheritsPolicy ? policyConditions(caller, parent.reference!.target) : none;
  // The parent itself does not change, but whether the caller can read it may depend on the row.
  const changing = dependOn(inherited, resource) ? ofParent(resource, inherited) : none;
  return write.length + changing.length === 0 ? own : [...own, ...write, ...changing];
}

/** Whether rows of a resource decide conditions on rows of another. */
function dependOn(conditions: readonly Condition[], resource: ResourceModel): boolean {
  return conditions.some((condition) => {
    if (isComparison(condition)) return false;
    if (condition.operator === "is" && condition.attribute.reference!.target === resource) return true;
    if (condition.operator === "some" && condition.resource === resource) return true;
    return dependOn(condition.conditions, resource);
  });
}

function ofParent({ parent }: ResourceModel, conditions: readonly Condition[]): readonly Condition[] {
  return conditions.length === 0 ? none : [{ attribute: parent!, operator: "is", conditions }];
}

/** The conditions that one rule demands of the rows of a caller. */
export function ruleConditions(
  caller: Caller,
  resource: ResourceModel,
  rule: PolicyRule | undefined,
): readonly Condition[] {
  return rule ? parsePolicyResult(resource, rule, callPolicy(resource, rule, caller)) : none;
}

/** A policy has thrown. The message is one line that names the resource and what was thrown. */
export class PolicyError extends Error {}

/**
 * Calls a policy. Its result may be anything. It cannot change the caller, whose tenant and user other queries of the
 * request carry.
 * @throws PolicyError if the policy throws, even a `Problem`, because the result of a policy is a condition and no error
 */
export function callPolicy(
  { name }: ResourceModel,
  { label, decide }: PolicyRule,
  caller: Caller,
  context: Parameters<PolicyRule["decide"]>[0] = { caller },
): unknown {
  Object.freeze(caller);
  try {
    return decide(context);
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    throw new PolicyError(`resource ${name}: its ${label} throws: ${firstLineOf(cause)}`, { cause });
  }
}

/**
 * The conditions that a policy returned. A result that is not a condition must never be treated as "all rows".
 * @throws OperatorError with one line that names resource, field and remedy
 */
export function parsePolicyResult(
  resource: ResourceModel,
  { label }: PolicyRule,
  result: unknown,
  { refusesNull = false }: Pick<WhereOptions, "refusesNull"> = {},
): readonly Condition[] {
  if (result === true) return none;
  if (result === false) return nothing;
  const refuse: WhereOptions["refuse"] = ({ name }, field, remedy) => {
    ignoreRejections(result);
    // The field of another resource is named with that resource.
    const subject = `resource ${resource.name}${field === undefined ? "" : `, field ${name === resource.name ? "" : `${name}.`}${field}`}`;
    throw new OperatorError(`${subject}: its ${label} ${remedy}`);
  };
  if (isPlainObject(result)) return parseWhere(resource, result, { refusesNull, refuse });
  return refuse(
    resource,
    undefined,
    `returns ${describeValue(result)}; return true for all rows, false for none, or a condition, { ownerId: caller.userId }`,
  );
}

/**
 * Handles the rejections of all promises in a result that is refused. A promise cannot be part of a condition, and
 * one that is rejected without a handler ends the process.
 */
function ignoreRejections(result: unknown, seen = new Set<unknown>()): void {
  if (result instanceof Promise) result.catch(() => {});
  if (seen.has(result) || !(Array.isArray(result) || isPlainObject(result))) return;
  seen.add(result);
  for (const member of Object.values(result)) ignoreRejections(member, seen);
}

/** Identifies what the policies of a model let a caller read: callers with the same key see the same rows. */
export function policyKey({ resources }: Model, caller: Caller): string {
  const restricting = resources.filter(({ policy }) => policy.read);
  // Not the results of the policies themselves, because different results can mean the same.
  return valueKey(restricting.map((resource) => conditionKeys(ownPolicyConditions(caller, resource))));
}

/** The first line of a thrown value. */
function firstLineOf(thrown: unknown): string {
  const [line = ""] = (thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)).split(
    "\n",
  );
  return line;
}
