// Who may do what: the scope of an operation, and the rows that a policy leaves to a caller.

import type { Caller } from "../declare/caller.ts";
import type { ResourceModel } from "../declare/model.ts";
import type { RowFilter } from "../declare/resource.ts";
import { Problem } from "../errors.ts";
import type { Condition, Member, Read, ReadOne, Selection, Value } from "../plan/read.ts";
import { selectMembers } from "../plan/selection.ts";
import type { RowValues } from "../plan/write.ts";

/** @throws Problem `insufficient_scope` naming the scope that is missing (RFC 6750, section 3.1) */
export function requireScope(caller: Caller, scope: string): void {
  if (caller.scopes.has(scope)) return;
  const message = `This operation needs the scope ${scope}, which the credential lacks.`;
  throw new Problem("insufficient_scope", message, [], scopeChallenge([scope]));
}

/** The header that names the scopes which a request lacks; none where it could be any. */
export function scopeChallenge(scopes: readonly string[]): Readonly<Record<string, string>> {
  const named = scopes.length === 0 ? "" : `, scope="${scopes.join(" ")}"`;
  return { "WWW-Authenticate": `Bearer error="insufficient_scope"${named}` };
}

/** What the policy of a resource adds to every read and write of a caller. */
export function policyConditions(caller: Caller, resource: ResourceModel): readonly Condition[] {
  const filter = resource.policy?.(caller);
  return filter ? conditionsOf(resource, filter) : none;
}

const none: readonly Condition[] = Object.freeze([]);

function conditionsOf(resource: ResourceModel, filter: RowFilter): Condition[] {
  return Object.entries(filter).map(([name, value]) => {
    const attribute = resource.attribute.get(name);
    if (!attribute) throw new Error(`the policy of ${resource.name} names ${name}, which is no field of it`);
    const values = Array.isArray(value) ? (value as readonly Value[]) : [value as Value];
    return { attribute, operator: "in", values };
  });
}

/** Whether a row meets conditions of equality, as those of a policy are. */
export function meets(conditions: readonly Condition[], row: RowValues): boolean {
  // A value of a filtered attribute is never an object.
  return conditions.every(({ attribute, values }) => values.includes(row[attribute.name] as Value));
}

/** What a caller reads, held to the policy of the resource, and the rows inside to the scopes and policies of theirs. */
export function authorised<Asked extends Read | ReadOne>(caller: Caller, read: Asked): Asked {
  const selection = authorisedSelection(caller, read.selection);
  const policy = policyConditions(caller, read.resource);
  if (selection === read.selection && policy.length === 0) return read;
  return { ...read, selection, conditions: [...read.conditions, ...policy] };
}

function authorisedSelection(caller: Caller, selection: Selection): Selection {
  if (!selection.isNested) return selection;
  // Most selections need nothing added, and a selection that was made before has its key.
  let isChanged = false;
  const members = selection.members.map((member): Member => {
    if (member.kind === "value" || member.kind === "constant") return member;
    const target = member.kind === "row" ? member.reference.reference!.target : member.resource;
    requireScope(caller, target.scopes.read);
    const inner = authorisedSelection(caller, member.selection);
    const policy = policyConditions(caller, target);
    if (inner === member.selection && policy.length === 0) return member;
    isChanged = true;
    return { ...member, selection: inner, conditions: [...member.conditions, ...policy] };
  });
  return isChanged ? selectMembers(members) : selection;
}
