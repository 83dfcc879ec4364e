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
export function validatePolicies(model: Pick<Model, "resources" | "scopes" | "roles">): void {
  const { resources } = model;
  const callers = sampleCallers(model);
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
const credentialId = `${clientId}/${userId}`;
const quota = { limit: 1_000, windowSeconds: 60 };
const address = "192.0.2.1";

/**
 * Callers of every kind and role, with all scopes and with none: keys with and without an owner, users through a client,
 * a client, a publishable key, and the server itself.
 */
function sampleCallers({ scopes: known, roles }: Pick<Model, "scopes" | "roles">): readonly Caller[] {
  const scopes = new Set(known);
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
    { kind: "system", tenantId, userId, role: null, credentialId: "system" },
    { kind: "system", tenantId, userId: null, role: null, credentialId: "system" },
  ];
  return callers.flatMap((caller) => [
    { ...caller, scopes },
    { ...caller, scopes: new Set<string>() },
  ]);
}
