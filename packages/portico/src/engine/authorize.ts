// Authorization: the scope of an operation, and the policies of all resources that a read selects.

import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";
import type { ReadAccess } from "../model/public.ts";
import {
  type Condition,
  isComparison,
  isRelated,
  type RelatedCondition,
  relatedResource,
} from "../query/condition.ts";
import type {
  Member,
  Read,
  ReadOne,
  SelectedCount,
  SelectedList,
  SelectedRow,
  Selection,
} from "../query/read.ts";
import { selectMembers } from "../query/selection.ts";
import { ownPolicyConditions, policyConditions } from "./policy.ts";

/** @throws Problem `insufficient_scope` with the name of the missing scope (RFC 6750, section 3.1) */
export function requireScope(caller: Caller, scope: string): void {
  if (!caller.scopes.has(scope)) throw insufficientScope(caller, scope);
}

/** Whether a caller has the scope for reading rows, or is anonymous and may read them because they are public. */
export function canRead({ scopes, kind }: Caller, { scope, isPublic }: ReadAccess): boolean {
  return scopes.has(scope) || (isPublic && kind === "anonymous");
}

/** @throws Problem `insufficient_scope`, or `authentication_required` for a caller without a credential */
export function requireRead(caller: Caller, access: ReadAccess): void {
  if (!canRead(caller, access)) throw insufficientScope(caller, access.scope);
}

/** Whether a request has no credential, not even a publishable key. */
export function isWithoutCredential({ kind, keyId }: Caller): boolean {
  return kind === "anonymous" && keyId === undefined;
}

/** The error for a caller without a credential who asks for more than is public. */
export function credentialRequired(message: string): Problem {
  return new Problem("authentication_required", message, [], { "WWW-Authenticate": "Bearer" });
}

function insufficientScope(caller: Caller, scope: string): Problem {
  if (isWithoutCredential(caller))
    return credentialRequired(`This operation requires a credential with the scope \`${scope}\`.`);
  const isOutsideRole = caller.scopesOutsideRole?.has(scope) === true;
  const reason = isOutsideRole ? ` ${roleText(caller)} does not include it.` : "";
  const message = `This operation requires the scope \`${scope}\`.${reason}`;
  return new Problem("insufficient_scope", message, [], scopeChallenge([scope]));
}

function roleText({ role }: Caller): string {
  return role === null ? "The role of the client's owner" : `The role \`${role}\` of this user`;
}

/** The header that names the missing scopes. Without scopes, it names none: any of several would do. */
export function scopeChallenge(scopes: readonly string[]): Readonly<Record<string, string>> {
  const scope = scopes.length === 0 ? "" : `, scope="${scopes.join(" ")}"`;
  return { "WWW-Authenticate": `Bearer error="insufficient_scope"${scope}` };
}

/** The error for a caller that may not read the related rows of conditions; undefined if there is none. */
export function missingRelatedScope(caller: Caller, conditions: readonly Condition[]): Problem | undefined {
  for (const condition of conditions) {
    if (isComparison(condition)) continue;
    if (isRelated(condition)) {
      const access = relatedAccess(condition);
      if (!canRead(caller, access)) return insufficientScope(caller, access.scope);
    }
    const missing = missingRelatedScope(caller, condition.conditions);
    if (missing) return missing;
  }
  return undefined;
}

/** What a condition on related rows requires: that the caller may get the row, or list the rows. */
function relatedAccess(condition: RelatedCondition): ReadAccess {
  const { access } = relatedResource(condition);
  return condition.operator === "is" ? access.get : access.list;
}

const none: readonly Condition[] = Object.freeze([]);

/**
 * Adds the policies to a read: that of the resource, and those of the nested rows.
 * @throws Problem `insufficient_scope` for nested rows that the caller may not read
 */
export function withPolicies<Plan extends Read | ReadOne>(caller: Caller, read: Plan): Plan {
  if (read.resource.deletedOf) requireBothScopes(caller, read.resource);
  const selection = selectionWithPolicies(caller, read.resource, read.selection);
  const policy = policyConditions(caller, read.resource);
  const conditions = relatedWithPolicies(caller, read.conditions);
  const isAnonymous = caller.kind === "anonymous";
  const isChanged = selection !== read.selection || conditions !== read.conditions || policy.length > 0;
  if (!isChanged && !isAnonymous) return read;
  const allowed = policy.length === 0 ? conditions : [...conditions, ...policy];
  return { ...read, selection, conditions: allowed, ...(isAnonymous && { isAnonymous }) };
}

/**
 * Adds the policies for related rows to conditions of a caller: a filter must not reveal what the caller cannot read.
 * @param needsScopes whether the caller needs the scopes to read them, by default true. What an action reads needs none
 * @throws Problem `insufficient_scope` for related rows that the caller may not read
 */
export function relatedWithPolicies(
  caller: Caller,
  conditions: readonly Condition[],
  needsScopes = true,
): readonly Condition[] {
  if (conditions.every(isComparison)) return conditions;
  return conditions.map((condition): Condition => {
    if (isComparison(condition)) return condition;
    const inner = relatedWithPolicies(caller, condition.conditions, needsScopes);
    if (!isRelated(condition)) return { ...condition, conditions: inner };
    if (needsScopes) requireRead(caller, relatedAccess(condition));
    const target = relatedResource(condition);
    return { ...condition, conditions: [...inner, ...policyConditions(caller, target)] };
  });
}

/** Deleted rows are for those who may restore them, and may read what they restore. @throws Problem `insufficient_scope` */
function requireBothScopes(caller: Caller, { scopes }: ResourceModel): void {
  requireScope(caller, scopes.write);
  requireScope(caller, scopes.read);
}

/** @param outer the resource that the selection belongs to; its own policy is a condition of the read */
function selectionWithPolicies(caller: Caller, outer: ResourceModel, selection: Selection): Selection {
  if (!selection.isNested) return selection;
  // Most selections stay as they are, and keep the key that they have.
  let isChanged = false;
  const members = selection.members.map((member): Member => {
    if (member.kind === "value" || member.kind === "constant") return member;
    if (member.kind === "part") {
      const part = selectionWithPolicies(caller, outer, member.selection);
      if (part === member.selection) return member;
      isChanged = true;
      return { ...member, selection: part };
    }
    const target = memberTarget(member);
    requireRead(caller, member.kind === "row" ? target.access.get : target.access.list);
    const policy = target.isRestricted ? memberConditions(caller, outer, member, target) : none;
    const conditions = policy.length === 0 ? member.conditions : [...member.conditions, ...policy];
    if (member.kind === "count") {
      isChanged ||= policy.length > 0;
      return { ...member, conditions };
    }
    const inner = selectionWithPolicies(caller, target, member.selection);
    if (inner === member.selection && policy.length === 0) return member;
    isChanged = true;
    return { ...member, selection: inner, conditions };
  });
  return isChanged ? selectMembers(members) : selection;
}

type RelatedMember = SelectedRow | SelectedList | SelectedCount;

function memberTarget(member: RelatedMember): ResourceModel {
  if (member.kind === "count") return member.count.resource;
  return member.kind === "row" ? member.reference.reference!.target : member.resource;
}

/** A row and its parent are visible together: conditions that the outer row meets are not repeated for the inner row. */
function memberConditions(
  caller: Caller,
  outer: ResourceModel,
  member: RelatedMember,
  target: ResourceModel,
): readonly Condition[] {
  const { reference } = member.kind === "count" ? member.count : member;
  const isParent = member.kind === "row" && reference === outer.parent && outer.inheritsPolicy;
  if (isParent) return none;
  const areChildren = member.kind !== "row" && reference === target.parent;
  return areChildren ? ownPolicyConditions(caller, target) : policyConditions(caller, target);
}
