// How people become users of a tenant.

import { OperatorError } from "../errors.ts";
import { administrativeScopes } from "./administrative-scopes.ts";
import type { RoleDeclarations } from "./roles.ts";

/**
 * `closed`: only requests and commands create users. `invited`: people accept invitations of those who manage users.
 * `open`: people also create their own account in the tenant of the application that they come from.
 */
export const signUpModes = ["closed", "invited", "open"] as const;
export type SignUp = (typeof signUpModes)[number];

/** The mode of an app that declares none. */
export const standardSignUp: SignUp = "invited";

export interface SignUpDeclaration {
  readonly signUp?: SignUp | undefined;
  /** The role of people who create their own account. Required for `open`. */
  readonly signUpRole?: string | undefined;
}

/** @throws OperatorError with one line */
export function validateSignUp(
  { signUp = standardSignUp, signUpRole }: SignUpDeclaration,
  roles: RoleDeclarations | undefined,
): void {
  if (!signUpModes.includes(signUp)) refuse(`signUp must be one of ${signUpModes.join(", ")}`);
  if (signUp !== "open" && signUpRole === undefined) return;
  if (roles === undefined)
    refuse('signUp: "open" needs declared roles: { owner: "*", member: ["posts:read"] }');
  const names = Object.keys(roles);
  if (signUpRole === undefined)
    refuse(`signUp: "open" needs signUpRole, the role of those who sign up: one of ${names.join(", ")}`);
  if (typeof signUpRole !== "string" || !names.includes(signUpRole))
    refuse(`signUpRole must be one of the roles ${names.join(", ")}`);
  // With one of these scopes, strangers could take over each other's accounts.
  const forbidden = [roles[signUpRole]!].flat().find((scope) => administrativeScopes.has(scope));
  if (forbidden !== undefined)
    refuse(
      `signUpRole is ${signUpRole}, whose scope ${forbidden} affects other users; name a role for strangers`,
    );
}

function refuse(message: string): never {
  throw new OperatorError(`app: ${message}`);
}
