// The policies of a resource as declared: which function decides about which operation. The engine calls them.

import type { LooseDeclaration } from "../declare/resource.ts";
import type { LoosePolicies } from "../declare/where.ts";
import type { PolicyRule, ResourceModel, WriteOperation } from "./model.ts";

const writeOperations: readonly WriteOperation[] = ["create", "update", "delete"];
const names = ["read", ...writeOperations, "write"] as const;

/** Checks the options without calling a policy. */
export function validatePolicyOptions(
  { policy, inheritPolicy, parent }: Pick<LooseDeclaration, "policy" | "inheritPolicy" | "parent">,
  refuse: (remedy: string) => never,
): void {
  if (policy !== undefined && typeof policy !== "function") {
    if (typeof policy !== "object" || policy === null || Object.keys(policy).length === 0)
      refuse("policy is a function, ({ caller }) => ..., or several by operation, { read, write }");
    const unknown = Object.keys(policy).find((name) => !names.some((each) => each === name));
    if (unknown !== undefined) refuse(`there is no policy for ${unknown}; use some of ${names.join(", ")}`);
    for (const name of names)
      if (policy[name] !== undefined && typeof policy[name] !== "function")
        refuse(`the policy for ${name} is a function, ({ caller }) => ...`);
    if (policy.write && writeOperations.every((name) => policy[name]))
      refuse(
        "the policy for write decides about nothing, because create, update and delete have their own; remove it",
      );
  }
  if (inheritPolicy === undefined) return;
  if (typeof inheritPolicy !== "boolean") refuse("inheritPolicy is true or false");
  if (!parent) refuse("inheritPolicy needs a parent; remove it, or set parent");
}

/** The rule of each operation. Operations that one function decides about share its rule. */
export function policyRules(policy: LoosePolicies | undefined): ResourceModel["policy"] {
  if (policy === undefined) return {};
  if (typeof policy === "function") {
    const rule: PolicyRule = { label: "policy", decide: policy };
    return { read: rule, create: rule, update: rule, delete: rule };
  }
  const ruleOf = (name: (typeof names)[number]): PolicyRule | undefined => {
    const decide = policy[name];
    return decide && { label: `policy for ${name}`, decide };
  };
  const write = ruleOf("write");
  const rules = {
    read: ruleOf("read"),
    create: ruleOf("create"),
    update: ruleOf("update"),
    delete: ruleOf("delete"),
  };
  const { read, create = write, update = write, delete: deletion = write } = rules;
  return {
    ...(read && { read }),
    ...(create && { create }),
    ...(update && { update }),
    ...(deletion && { delete: deletion }),
  };
}

/** Whether any policy for reading applies to the rows of a resource: its own, or an inherited one. */
export function isRestricted({ policy, parent, inheritsPolicy }: ResourceModel): boolean {
  if (policy.read) return true;
  return inheritsPolicy && parent !== undefined && isRestricted(parent.reference!.target);
}

/**
 * The writes that a policy can refuse for rows that the caller can read: those with a rule other than the one for reading,
 * and those whose result can be outside the policy for reading.
 */
export function refusableOperations(resource: ResourceModel): ReadonlySet<WriteOperation> {
  const refusable = writeOperations.filter(
    (operation) => isDecidedApart(resource, operation) || (operation !== "delete" && resource.isRestricted),
  );
  return new Set(refusable);
}

/** Whether another rule than that for reading decides about a write; without an own rule, that for updates of the parent. */
function isDecidedApart(
  { policy, parent, inheritsPolicy }: ResourceModel,
  operation: WriteOperation,
): boolean {
  const rule = policy[operation];
  if (rule) return rule !== policy.read;
  return inheritsPolicy && parent !== undefined && isDecidedApart(parent.reference!.target, "update");
}
