// What a request of a user or a key would meet: its scopes, its role, the policies, and what hides a row.

import { AnonymousCallers } from "../auth/anonymous/anonymous-callers.ts";
import { Principals } from "../auth/principal.ts";
import type { Caller } from "../declare/caller.ts";
import { requireScope } from "../engine/authorize.ts";
import { type AppliedPolicy, appliedPolicies, failingPolicy } from "../engine/explain-access.ts";
import { OperatorError, Problem } from "../errors.ts";
import type { Model, PolicyOperation, ResourceModel } from "../model/model.ts";
import type { Read, ReadOne, Selection } from "../query/read.ts";
import { userNamed } from "../runtime/actor.ts";
import type { Settings } from "../runtime/settings/settings.ts";
import type { Store } from "../store/store.ts";
import type { ExplainedWrite } from "./explained-write.ts";
import type { RefusedRequest } from "./recorded-request.ts";

/** What the caller would be answered, and why. */
export interface ExplainedAccess {
  readonly as: {
    readonly kind: string;
    readonly userId: string | null;
    readonly role: string | null;
    readonly scopes: readonly string[];
  };
  /** The error of the response; null for a request that is allowed. */
  readonly refused: { readonly status: number; readonly code: string; readonly message: string } | null;
  /** The policies for the rows that the request reads or writes, nested rows included. */
  readonly policies: readonly AppliedPolicy[];
  /** The policy that hides the row or refuses the write, with the part of its condition that the row does not meet. */
  readonly failing: AppliedPolicy | null;
}

/** What a recorded request did. */
interface RecordedAccess {
  readonly reads: readonly (Read | ReadOne)[];
  readonly write: ExplainedWrite | undefined;
  readonly refusal: RefusedRequest | undefined;
}

/**
 * The caller that `--as` names: a user by id or address, with all scopes of the role; an API key by its id; `anonymous`.
 * @throws OperatorError if there is none, or if its requests are refused with 401
 */
export async function callerNamed(
  store: Store,
  model: Model,
  { keyQuota }: Settings,
  tenantId: string,
  name: string,
): Promise<Caller> {
  if (name === "anonymous") {
    const anonymous = new AnonymousCallers(store, { id: tenantId }, keyQuota);
    return (await anonymous.caller(""))!;
  }
  const principals = new Principals(store, model, keyQuota);
  if (name.startsWith("api_key_")) {
    const caller = await principals.current({ kind: "key", tenantId, keyId: name });
    if (caller) return caller;
    throw new OperatorError(
      `the tenant has no valid secret key ${name}: it is unknown, revoked or expired, or its owner is inactive (401); a publishable key reads what --as anonymous reads`,
    );
  }
  const caller = await userNamed(store, principals, tenantId, name);
  const scopesOutsideRole = new Set(model.scopes).difference(caller.scopes);
  return { ...caller, scopesOutsideRole };
}

export async function explainAccess(
  store: Store,
  caller: Caller,
  { reads, write, refusal }: RecordedAccess,
): Promise<ExplainedAccess> {
  const { kind, userId, role, scopes } = caller;
  const as = { kind, userId, role, scopes: [...scopes].sort() };
  const policies = write
    ? policiesOfWrite(caller, write)
    : unique(reads.flatMap((read) => policiesOfRead(caller, read)));
  const refusedAtOnce = refusal ?? (write && missingScope(caller, write));
  if (refusedAtOnce) {
    const { status, code, message } = refusedAtOnce;
    return { as, refused: { status, code, message }, policies, failing: null };
  }
  const checks = write ? checksOfWrite(write) : reads.flatMap(checksOfRead);
  for (const { resource, id, operation } of checks) {
    const failing = await failingPolicy(store, caller, resource, id, operation);
    if (failing === undefined) continue;
    const refused =
      operation === "read"
        ? { status: 404, code: "not_found", message: `There is no ${resource.title} with this id.` }
        : {
            status: 403,
            code: "forbidden",
            message: `You are not allowed to write this ${resource.title}.`,
          };
    return { as, refused, policies, failing: failing === "missing" ? null : failing };
  }
  return { as, refused: null, policies, failing: null };
}

/** Who the caller is, and whether the request is refused. */
export function accessLines({ as, refused, failing }: ExplainedAccess): string[] {
  const { kind, userId, role, scopes } = as;
  const owner = kind === "user" ? ` ${userId}` : ` of ${userId}`;
  const who = `${kind}${userId === null ? "" : owner}${role === null ? "" : ` with the role ${role}`}`;
  return [
    `As ${who}, with ${scopes.length > 0 ? `the scopes ${scopes.join(" ")}` : "no scopes"}`,
    refused ? `Refused: ${refused.status} ${refused.code}. ${refused.message}` : "Allowed.",
    ...(failing
      ? [`The row does not meet the ${failing.policy} of ${failing.resource}: ${failing.condition}`]
      : []),
    ...(refused?.status === 404 && !failing ? ["The tenant has no such row."] : []),
  ];
}

export function policyLines({ policies }: ExplainedAccess): string[] {
  return [
    ...(policies.length > 0 ? ["Policies:"] : ["No policy applies."]),
    ...policies.map(({ resource, policy, condition }) => `  ${resource}, ${policy}: ${condition}`),
  ];
}

function missingScope(caller: Caller, { resource }: ExplainedWrite): Problem | undefined {
  try {
    requireScope(caller, resource.scopes.write);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  return undefined;
}

interface Check {
  readonly resource: ResourceModel;
  readonly id: string;
  readonly operation: PolicyOperation;
}

function checksOfRead(read: Read | ReadOne): readonly Check[] {
  return "page" in read ? [] : [{ resource: read.resource, id: read.id, operation: "read" }];
}

/** A row that is written must be readable, and so must the parent of a new one. */
function checksOfWrite({ resource, operation, id, parentId }: ExplainedWrite): readonly Check[] {
  if (id !== undefined)
    return [
      { resource, id, operation: "read" },
      { resource, id, operation },
    ];
  const { parent } = resource;
  return parent && parentId !== undefined
    ? [{ resource: parent.reference!.target, id: parentId, operation: "read" }]
    : [];
}

function policiesOfRead(caller: Caller, { resource, selection }: Read | ReadOne): readonly AppliedPolicy[] {
  return [resource, ...resourcesIn(selection)].flatMap((each) => appliedPolicies(caller, each));
}

function policiesOfWrite(caller: Caller, { resource, operation }: ExplainedWrite): readonly AppliedPolicy[] {
  return unique([...appliedPolicies(caller, resource), ...appliedPolicies(caller, resource, operation)]);
}

function unique(policies: readonly AppliedPolicy[]): readonly AppliedPolicy[] {
  return [...new Map(policies.map((each) => [`${each.resource} ${each.policy}`, each])).values()];
}

function resourcesIn({ members }: Selection): readonly ResourceModel[] {
  return members.flatMap((member): readonly ResourceModel[] => {
    switch (member.kind) {
      case "row":
        return [member.reference.reference!.target, ...resourcesIn(member.selection)];
      case "list":
        return [member.resource, ...resourcesIn(member.selection)];
      case "count":
        return [member.count.resource];
      case "part":
        return resourcesIn(member.selection);
      default:
        return [];
    }
  });
}
