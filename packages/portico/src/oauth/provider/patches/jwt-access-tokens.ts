// oidc-provider 9.13 stores no access tokens in JWT format: it refuses to introspect and revoke anything that looks like
// a JWT (400 `unsupported_token_type`), and its userinfo endpoint finds stored tokens without an audience only. Portico
// marks a JWT before the library sees it, so that it asks the adapter, which verifies the JWT and returns the record
// that the library would have stored (RFC 7662, section 2.1; RFC 7009, section 2.1).

import type { AdapterPayload } from "oidc-provider";
import type { AccessClaims } from "../../../auth/tokens/access-claims.ts";

const marker = "~";
/** `{"` in base64url: how the header of a JWT begins. */
const jwtStart = "eyJ";

/** Marks the parameter `token` if it is a JWT. @returns whether the form was changed */
export function markJwt(form: URLSearchParams): boolean {
  const [token, ...duplicates] = form.getAll("token");
  if (!token?.startsWith(jwtStart) || duplicates.length > 0) return false;
  form.set("token", `${marker}${token}`);
  return true;
}

/** The JWT of an id that the library looks up, with or without the marker; undefined for an opaque token. */
export function jwtOf(id: string): string | undefined {
  const token = id.startsWith(marker) ? id.slice(marker.length) : id;
  return token.startsWith(jwtStart) ? token : undefined;
}

/**
 * The record that the library would have stored for an access token.
 *
 * @param route the library's name of the endpoint that looks the token up
 */
export function storedTokenOf(
  claims: AccessClaims,
  id: string,
  kind: "AccessToken" | "ClientCredentials",
  route: string | undefined,
): AdapterPayload | undefined {
  const isUser = claims.sub !== claims.client_id;
  if (isUser !== (kind === "AccessToken")) return undefined;
  const { client_id: clientId, tenant_id, aud, exp, iat, scope } = claims;
  return {
    ...{ kind, jti: id, clientId, exp, iat, scope },
    ...(isUser && { accountId: claims.sub, grantId: claims.grant_id }),
    ...(route !== "userinfo" && { aud }),
    extra: { tenant_id, ...(isUser && { grant_id: claims.grant_id }) },
  };
}
