// An OAuth client as the client metadata that oidc-provider reads (RFC 7591, section 2).

import type { AdapterPayload } from "oidc-provider";
import type { OAuthClient } from "../../auth/clients/lookup.ts";
import { secretPlaceholder } from "./patches/hashed-client-secrets.ts";
import { responseModes } from "./patches/response-modes.ts";

/** Members of the metadata that OpenID Connect does not define. */
export const extraMetadata = [
  "tenant_id",
  "tenant_name",
  "requires_consent",
  "may_introspect",
  "owner_role",
  "secrets",
];

export function clientMetadata(client: OAuthClient): AdapterPayload {
  const hasCodeGrant = client.grantTypes.includes("authorization_code");
  const hasSecret = client.authMethod.startsWith("client_secret");
  return {
    client_id: client.clientId,
    client_name: client.name,
    token_endpoint_auth_method: client.authMethod,
    grant_types: [...client.grantTypes],
    response_types: hasCodeGrant ? ["code"] : [],
    response_modes: [...responseModes],
    redirect_uris: [...client.redirectUris],
    // The library refuses an empty string; `allowedScopes` refuses requests of a client without scopes.
    ...(client.scopes.length > 0 && { scope: client.scopes.join(" ") }),
    ...(hasSecret && { client_secret: secretPlaceholder }),
    ...(client.jwks && { jwks: client.jwks }),
    ...(client.jwksUri !== undefined && { jwks_uri: client.jwksUri }),
    tenant_id: client.tenantId,
    tenant_name: client.tenantName,
    requires_consent: client.requiresConsent,
    may_introspect: client.mayIntrospect,
    owner_role: client.ownerRole,
    secrets: client.secrets,
  } as AdapterPayload;
}
