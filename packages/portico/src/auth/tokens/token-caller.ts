// The caller that an access token of this server makes: of a request that presented it, or of what acts for its grant or
// client later.

import type { Caller, Quota } from "../../declare/caller.ts";
import type { Model } from "../../model/model.ts";
import { openIdScopes } from "../clients/rules.ts";
import { RoleScopes } from "../role-scopes.ts";
import type { CurrentRights, TokenSubject } from "./token-status.ts";

/** The caller of a token, without its scopes and role, which may change at any time. */
export function callerOfToken(subject: TokenSubject, quota: Quota): Caller {
  const { tenant_id: tenantId, client_id: clientId, grant_id: grantId, sub } = subject;
  const isUser = sub !== clientId;
  return {
    kind: isUser ? "user" : "client",
    tenantId,
    userId: isUser ? sub : null,
    role: null,
    isDelegated: isUser,
    credentialId: isUser ? `${clientId}/${sub}` : clientId,
    clientId,
    grantId: isUser ? grantId : undefined,
    scopes: new Set(),
    quota,
  };
}

/** The same with the scopes and the role that it has now. @param scope the scopes of the token, separated by spaces */
export function withRights(
  caller: Caller,
  roleScopes: RoleScopes,
  scope: string | undefined,
  rights: CurrentRights | undefined,
): Caller {
  const role = rights?.role ?? null;
  const scopes = roleScopes.of(commonScopes(scope, rights?.scopes), role);
  // A client that acts for itself has no role: that of its owner only cuts its scopes.
  return { ...caller, role: caller.userId === null ? null : role, ...scopes };
}

/** Cuts the scopes of tokens, which are separated by spaces, by roles. */
export function tokenScopes(model: Pick<Model, "roles">): RoleScopes {
  const parse = (scope: string) => new Set(scope.split(" ").filter((each) => each !== ""));
  return new RoleScopes(model, parse, openIdScopes);
}

/**
 * The scopes of a token that its client still has, separated by spaces.
 * @param clientScopes a JSON list
 */
export function commonScopes(scope = "", clientScopes: string | undefined): string {
  const allowed = new Set<string>(clientScopes === undefined ? [] : JSON.parse(clientScopes));
  const scopes = scope.split(" ").filter((each) => allowed.has(each));
  return scopes.join(" ");
}
