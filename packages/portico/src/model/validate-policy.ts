// Validates policies. They are functions, so most errors show only when they are called: each policy is called at start
// for callers of every kind.

import type { Caller } from "../declare/caller.ts";
import type { LooseDeclaration } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import type { Model, ResourceModel } from "./model.ts";
import { callPolicy, parsePolicyResult } from "./policy.ts";

/** Checks the options without calling the policy. */
export function validatePolicyOptions(
  { policy, inheritPolicy, parent }: LooseDeclaration,
  refuse: (remedy: string) => never,
): void {
  if (policy !== undefined && typeof policy !== "function") refuse("policy is a function of the caller");
  if (inheritPolicy === undefined) return;
  if (typeof inheritPolicy !== "boolean") refuse("inheritPolicy is true or false");
  if (!parent) refuse("inheritPolicy needs a parent; remove it, or set parent");
}

/**
 * @throws OperatorError for a policy whose result for a caller is not a filter, or that throws for all callers. A policy
 * that throws for some may look up ids that the sample callers do not have.
 */
export function validatePolicies({ resources, scopes }: Pick<Model, "resources" | "scopes">): void {
  const callers = sampleCallers(new Set(scopes));
  for (const resource of resources.filter(({ policy }) => policy)) {
    const failures = callers.flatMap((caller) => policyErrors(resource, caller));
    if (failures.length < callers.length) continue;
    const [{ message }] = failures as [Error];
    throw new OperatorError(`${message}; return field values, or undefined for all rows`);
  }
}

/** The error that the policy throws for a caller, if any. @throws OperatorError for a result that is not a filter */
function policyErrors(resource: ResourceModel, caller: Caller): Error[] {
  let result: unknown;
  try {
    result = callPolicy(resource, caller);
  } catch (error) {
    return [error as Error];
  }
  parsePolicyResult(resource, result);
  return [];
}

const [tenantId, userId, keyId, clientId] = ["tenant", "user", "api_key", "client"].map(
  (prefix) => `${prefix}_00000000000000000000000000`,
) as [string, string, string, string];
const quota = { limit: 1_000, windowSeconds: 60 };
const address = "192.0.2.1";

/** A key with and without an owner, a user through a client, a client, and the server itself; with all scopes and with none. */
function sampleCallers(scopes: ReadonlySet<string>): readonly Caller[] {
  const callers: readonly Omit<Caller, "scopes">[] = [
    { tenantId, userId, credentialId: keyId, keyId, quota, address },
    { tenantId, credentialId: keyId, keyId, quota, address },
    { tenantId, userId, isDelegated: true, credentialId: `${clientId}/${userId}`, quota, address },
    { tenantId, credentialId: clientId, quota, address },
    { tenantId, userId, credentialId: "system" },
    { tenantId, credentialId: "system" },
  ];
  return callers.flatMap((caller) => [
    { ...caller, scopes },
    { ...caller, scopes: new Set<string>() },
  ]);
}
