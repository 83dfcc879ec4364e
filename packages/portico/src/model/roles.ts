// The roles of users, with their scopes. A credential that acts for a user may do at most what the role of the user allows.

import type { App } from "../declare/app.ts";
import { everyScope, type RoleDeclarations, standardRoleNames } from "../declare/roles.ts";
import { OperatorError } from "../errors.ts";
import { FrozenSet } from "../lib/frozen-set.ts";

export interface Role {
  readonly name: string;
  /** With `*`, every scope that there is and `*` itself. */
  readonly scopes: ReadonlySet<string>;
}

/** The scope that every role has by default, besides those of the resources of the app. */
const usersRead = "users:read";

/**
 * The roles of an app, in the order of their declaration.
 *
 * @param scopes every scope that a credential can have
 * @param serverScopes those of the server's own resources, which members do not have by default
 * @throws OperatorError for a role that names an unknown scope
 */
export function rolesOf(
  { roles }: Pick<App, "roles">,
  scopes: readonly string[],
  serverScopes: ReadonlySet<string>,
): readonly Role[] {
  const declared = roles ?? standardRoles(scopes, serverScopes);
  const all = new FrozenSet([...scopes, everyScope]);
  return Object.freeze(
    Object.entries(declared).map(([name, own]): Role => {
      if (own === everyScope) return Object.freeze({ name, scopes: all });
      const unknown = own.filter((scope) => !scopes.includes(scope));
      if (unknown.length === 0) return Object.freeze({ name, scopes: new FrozenSet(own) });
      throw new OperatorError(
        `app: the role ${name} names unknown scopes: ${unknown.join(", ")} (known: ${scopes.join(", ")})`,
      );
    }),
  );
}

function standardRoles(scopes: readonly string[], serverScopes: ReadonlySet<string>): RoleDeclarations {
  const [owner, member] = standardRoleNames;
  return {
    [owner]: everyScope,
    [member]: scopes.filter((scope) => scope === usersRead || !serverScopes.has(scope)),
  };
}

/** Whether all scopes are among others. */
export function isWithin(scopes: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return scopes.isSubsetOf(others);
}
