// What a user may grant: the scopes of their role. The library counts a scope as missing unless it is granted or rejected,
// so those outside the role are rejected, and no longer once the role includes them.

import type { Grant, KoaContextWithOIDC } from "oidc-provider";
import { openIdScopes } from "../../auth/clients/rules.ts";
import type { UserLookup } from "../../auth/users/lookup.ts";
import type { Issuer } from "../endpoints/issuer.ts";

/** The scopes that a user with this role may grant. Those of OpenID Connect describe the user, so every user may. */
export function grantableScopes(
  { roles }: Pick<Issuer, "roles">,
  role: string | undefined,
  scopes: readonly string[],
): readonly string[] {
  const allowed = roles.find(({ name }) => name === role)?.scopes;
  return scopes.filter((scope) => openIdScopes.includes(scope) || allowed?.has(scope) === true);
}

/** Cuts the scopes of a token that is being issued by the current role of its user, or of the owner of a client that acts for itself. */
export async function scopesAtIssue(
  { oidc }: KoaContextWithOIDC,
  issuer: Issuer,
  users: UserLookup,
  scopes: readonly string[],
): Promise<readonly string[]> {
  if (oidc.route !== "token") return scopes;
  const accountId = oidc.entities.Account?.accountId ?? oidc.entities.Grant?.accountId;
  if (accountId === undefined) {
    const ownerRole = oidc.client?.["owner_role"];
    return typeof ownerRole === "string" ? grantableScopes(issuer, ownerRole, scopes) : scopes;
  }
  return grantableScopes(issuer, (await users.find(accountId))?.role, scopes);
}

/** Rejects what the role does not include, so that the user is not asked for it. */
export function rejectScopes(grant: Grant, issuer: Issuer, scopes: readonly string[]): void {
  if (scopes.length === 0) return;
  grant.rejectOIDCScope(scopes.join(" "));
  grant.rejectResourceScope(issuer.resource, scopes.join(" "));
}

/** Forgets the rejections of scopes that the role includes now, so that the user is asked again. @returns whether any were */
export function restoreScopes(grant: Grant, issuer: Issuer, role: string | undefined): boolean {
  const rejected = grant.getRejectedOIDCScope().split(" ").filter(Boolean);
  if (grantableScopes(issuer, role, rejected).length === 0) return false;
  const remaining = rejected.filter((scope) => !grantableScopes(issuer, role, [scope]).includes(scope));
  // The library has no method for it; the member is part of what it stores.
  (grant as { rejected?: object }).rejected = {};
  rejectScopes(grant, issuer, remaining);
  return true;
}
