// Who may give and take away roles.

import { administrativeScopes } from "../../declare/administrative-scopes.ts";
import type { Caller } from "../../declare/caller.ts";
import { everyScope } from "../../declare/roles.ts";
import { Problem } from "../../errors.ts";
import type { Model } from "../../model/model.ts";
import type { Role } from "../../model/roles.ts";

const noScopes: ReadonlySet<string> = new Set();

/** The scopes of a role; none if it is no longer declared. */
export function scopesOfRole({ roles }: Pick<Model, "roles">, name: string | null): ReadonlySet<string> {
  return roles.find((role) => role.name === name)?.scopes ?? noScopes;
}

/** Whether users who are created without a role have this one. */
export function isDefaultRole({ roles }: Pick<Model, "roles">, name: string): boolean {
  return roles.at(-1)!.name === name;
}

/** The roles with `*`, of which each tenant keeps at least one user. */
export function ownerRoles({ roles }: Pick<Model, "roles">): readonly Role[] {
  return roles.filter(({ scopes }) => scopes.has(everyScope));
}

/**
 * A role is given only by those who have its scopes themselves.
 * @throws Problem `forbidden`
 */
export function assertCanGiveRole(model: Model, role: string, caller: Caller): void {
  const missing = [...scopesOfRole(model, role)].find((scope) => !caller.scopes.has(scope));
  if (missing === undefined) {
    assertOutranks(model, role, caller);
    return;
  }
  throw new Problem(
    "forbidden",
    `You lack the scope ${missing} of the role ${role}, so you cannot give it to anybody.`,
    [{ field: "role", issue: "choice" }],
  );
}

/**
 * A user with a role cannot manage users whose role has scopes that their own lacks, and no credential can manage users
 * with administrative scopes that it lacks: it could take over such an account by changing its address. A credential that
 * acts for no user manages those with the default role, and with roles whose scopes it has.
 *
 * @throws Problem `forbidden`
 */
export function assertOutranks(model: Model, role: string, caller: Caller): void {
  const missing = scopeBeyond(model, role, caller);
  if (missing === undefined) return;
  throw new Problem(
    "forbidden",
    `You lack the scope ${missing} of the role ${role}, so you cannot manage users with this role.`,
  );
}

/**
 * A scope of a role because of which a caller cannot manage users with this role; undefined if there is none. A role that is
 * no longer declared may be declared again, with any scopes, so it counts as one with every scope.
 */
export function scopeBeyond(model: Model, role: string, caller: Caller): string | undefined {
  const isDeclared = model.roles.some(({ name }) => name === role);
  const own = caller.role === null ? caller.scopes : scopesOfRole(model, caller.role);
  const isBounded = caller.role !== null || !isDefaultRole(model, role);
  return [...(isDeclared ? scopesOfRole(model, role) : [everyScope])].find((scope) => {
    const isOutsideCredential = administrativeScopes.has(scope) && !caller.scopes.has(scope);
    return isOutsideCredential || (isBounded && !own.has(scope));
  });
}
