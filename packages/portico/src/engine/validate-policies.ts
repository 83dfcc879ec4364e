// Validates policies. They are functions, so most errors show only when they are called: each policy is called at start
// for callers of every kind.

import type { Caller } from "../declare/caller.ts";
import type { PolicyContext } from "../declare/where.ts";
import { OperatorError } from "../errors.ts";
import { FrozenSet } from "../lib/frozen-set.ts";
import type { Model, PolicyRule, ResourceModel } from "../model/model.ts";
import { callPolicy, parsePolicyResult } from "./policy.ts";

/**
 * @throws OperatorError for a policy whose result for a caller is not a condition, or that throws for all callers. A policy
 * that throws for some may look up ids that the sample callers do not have.
 */
export function validatePolicies(model: Pick<Model, "resources" | "scopes" | "roles">): void {
  const callers = sampleCallers(model);
  for (const resource of model.resources)
    for (const rule of new Set(Object.values(resource.policy))) validateRule(resource, rule, callers);
}

function validateRule(resource: ResourceModel, rule: PolicyRule, callers: readonly Caller[]): void {
  const failures = callers.flatMap((caller) => errorOf(resource, rule, caller) ?? []);
  if (failures.length < callers.length) return;
  const [{ message }] = failures as [Error];
  throw new OperatorError(`${message}; return true, false, or a condition`);
}

/** The error that the policy throws for a caller, if any. @throws OperatorError for a result that is not a condition */
function errorOf(resource: ResourceModel, rule: PolicyRule, caller: Caller): Error | undefined {
  let result: unknown;
  try {
    result = callPolicy(resource, rule, caller, sampleContext(resource, rule, caller));
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    return error as Error;
  }
  // A null that does not come from a caller without a user was written, and means rows without a value.
  parsePolicyResult(resource, rule, result, { refusesNull: caller.userId !== null && caller.role !== null });
  return undefined;
}

/** The context of a policy. A function of the caller itself would find no user in it, and so hide or show all rows. */
function sampleContext({ name }: ResourceModel, { label }: PolicyRule, caller: Caller): PolicyContext {
  return new Proxy(
    { caller },
    {
      get: (context, member) => {
        if (member === "caller") return context.caller;
        throw new OperatorError(
          `resource ${name}: its ${label} reads ${String(member)} from its argument, which has only the caller; write ({ caller }) => caller.${String(member)}`,
        );
      },
    },
  );
}

const [tenantId, userId, keyId, clientId] = ["tenant", "user", "api_key", "client"].map(
  (prefix) => `${prefix}_00000000000000000000000000`,
) as [string, string, string, string];
const credentialId = `${clientId}/${userId}`;
const quota = { limit: 1_000, windowSeconds: 60 };
const address = "192.0.2.1";

/**
 * Callers of every kind and role, with all scopes and with none: keys with and without an owner, users through a client,
 * a client, a publishable key, no credential, and the server itself.
 */
function sampleCallers({ scopes: known, roles }: Pick<Model, "scopes" | "roles">): readonly Caller[] {
  const [scopes, none] = [new FrozenSet(known), new FrozenSet<string>()];
  const noUser = { tenantId, userId: null, role: null, quota, address };
  const ofUsers = roles.flatMap(({ name: role }): readonly Omit<Caller, "scopes">[] => [
    { kind: "key", tenantId, userId, role, credentialId: keyId, keyId, quota, address },
    { kind: "user", tenantId, userId, role, isDelegated: true, credentialId, quota, address },
  ]);
  const callers: readonly Omit<Caller, "scopes">[] = [
    ...ofUsers,
    { kind: "key", ...noUser, credentialId: keyId, keyId },
    { kind: "client", ...noUser, credentialId: clientId },
    { kind: "anonymous", ...noUser, credentialId: keyId, keyId },
    { kind: "anonymous", ...noUser, credentialId: "anonymous" },
    { kind: "system", tenantId, userId, role: null, credentialId: "system" },
    { kind: "system", tenantId, userId: null, role: null, credentialId: "system" },
  ];
  return callers.flatMap((caller) => [
    { ...caller, scopes },
    { ...caller, scopes: none },
  ]);
}
