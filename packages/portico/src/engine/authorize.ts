// Who may do what: the scope of an operation, and reads held to the policies of all resources in them.

import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";
import type {
  Condition,
  Member,
  Read,
  ReadOne,
  SelectedList,
  SelectedRow,
  Selection,
} from "../query/read.ts";
import { selectMembers } from "../query/selection.ts";
import { ownPolicyConditions, policyConditions } from "./policy.ts";

/** @throws Problem `insufficient_scope` naming the scope that is missing (RFC 6750, section 3.1) */
export function requireScope(caller: Caller, scope: string): void {
  if (caller.scopes.has(scope)) return;
  const message = `This operation requires the scope \`${scope}\`.`;
  throw new Problem("insufficient_scope", message, [], scopeChallenge([scope]));
}

/** The header that names the scopes which a request lacks; none where it could be any. */
export function scopeChallenge(scopes: readonly string[]): Readonly<Record<string, string>> {
  const scope = scopes.length === 0 ? "" : `, scope="${scopes.join(" ")}"`;
  return { "WWW-Authenticate": `Bearer error="insufficient_scope"${scope}` };
}

const none: readonly Condition[] = Object.freeze([]);

/** What a caller reads, held to the policy of the resource, and the rows inside to the scopes and policies of theirs. */
export function withPolicies<Plan extends Read | ReadOne>(caller: Caller, read: Plan): Plan {
  const selection = selectionWithPolicies(caller, read.resource, read.selection);
  const policy = policyConditions(caller, read.resource);
  if (selection === read.selection && policy.length === 0) return read;
  return { ...read, selection, conditions: [...read.conditions, ...policy] };
}

/** @param outer the resource whose row it is selected of, which is held to the policies itself */
function selectionWithPolicies(caller: Caller, outer: ResourceModel, selection: Selection): Selection {
  if (!selection.isNested) return selection;
  // Most selections need nothing added, and a selection that was made before has its key.
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
    requireScope(caller, target.scopes.read);
    const inner = selectionWithPolicies(caller, target, member.selection);
    const policy = target.isRestricted ? memberConditions(caller, outer, member, target) : none;
    if (inner === member.selection && policy.length === 0) return member;
    isChanged = true;
    return { ...member, selection: inner, conditions: [...member.conditions, ...policy] };
  });
  return isChanged ? selectMembers(members) : selection;
}

function memberTarget(member: SelectedRow | SelectedList): ResourceModel {
  return member.kind === "row" ? member.reference.reference!.target : member.resource;
}

/** A row and the one that it stands under are visible together: what holds for the outer one is not asked again inside. */
function memberConditions(
  caller: Caller,
  outer: ResourceModel,
  member: SelectedRow | SelectedList,
  target: ResourceModel,
): readonly Condition[] {
  const isParent = member.kind === "row" && member.reference === outer.parent && outer.inheritsPolicy;
  if (isParent) return none;
  const areChildren = member.kind === "list" && member.reference === target.parent;
  return areChildren ? ownPolicyConditions(caller, target) : policyConditions(caller, target);
}
