// The roles that users of an app can have.

import { OperatorError } from "../errors.ts";

/** What a role may do: `"*"` for every scope, those declared later too, or a list of scopes. */
export type RoleScopes = "*" | readonly string[];

/** Roles by name. The first is that of a tenant's first user, the last that of all users created without a role. */
export type RoleDeclarations = Readonly<Record<string, RoleScopes>>;

export const everyScope = "*";

/** Also valid names of the values of a GraphQL enum. */
const namePattern = /^[a-z][a-zA-Z0-9_]{0,49}$/;

/** The roles of an app that declares none. */
export const standardRoleNames = ["owner", "member"] as const;

/** Checks roles without their scopes, which the model knows. @throws OperatorError with one line */
export function validateRoles(roles: unknown): void {
  if (typeof roles !== "object" || roles === null || Array.isArray(roles) || Object.keys(roles).length === 0)
    refuse('write roles as an object: { owner: "*", member: ["posts:read"] }');
  const entries = Object.entries(roles);
  const badName = entries.find(([name]) => !namePattern.test(name))?.[0];
  if (badName !== undefined)
    refuse(
      `the role ${JSON.stringify(badName)} has an invalid name; use letters, digits and underscores, at most 50, a lowercase letter first`,
    );
  const [[first, scopesOfFirst]] = entries as [[string, unknown]];
  if (scopesOfFirst !== everyScope)
    refuse(`the first role, ${first}, must be "*": a tenant's first user has it`);
  for (const [name, scopes] of entries) {
    if (scopes === everyScope) continue;
    if (!Array.isArray(scopes) || scopes.some((scope) => typeof scope !== "string"))
      refuse(`the role ${name} must be "*" or a list of scopes`);
    if (scopes.includes(everyScope)) refuse(`the role ${name} lists "*"; write ${name}: "*"`);
  }
}

function refuse(message: string): never {
  throw new OperatorError(`app: ${message}`);
}
