// The security schemes of an API, and what each operation requires of a credential.

import type { OAuthUrls } from "../auth/tokens/oauth-urls.ts";
import type { Model } from "../model/model.ts";
import type { Operation } from "../model/operations.ts";
import type { ComponentsObject, SecurityRequirement } from "./description.ts";

/** The scopes of OpenID Connect that the authorization server offers. */
const openIdScopes: Readonly<Record<string, string>> = {
  openid: "Sign a user in.",
  profile: "See the name of the user.",
  email: "See the email address of the user.",
  offline_access: "Keep access while the user is offline, with refresh tokens.",
};

export function securitySchemes(
  { scopes }: Pick<Model, "scopes">,
  { issuer }: OAuthUrls,
): ComponentsObject["securitySchemes"] {
  const ofApi = Object.fromEntries(scopes.map((scope) => [scope, descriptionOf(scope)]));
  const ofUsers = { ...openIdScopes, ...ofApi };
  const token = { tokenUrl: `${issuer}/token`, refreshUrl: `${issuer}/token` };
  return {
    bearer: {
      type: "http",
      scheme: "bearer",
      description: "`Authorization: Bearer sk_...`: an API key or an access token.",
    },
    apiKey: {
      type: "apiKey",
      in: "header",
      name: "X-API-Key",
      description: "`X-API-Key: sk_...`: an API key.",
    },
    oauth2: {
      type: "oauth2",
      description:
        "OAuth 2.0: access tokens for people, with an authorization code and PKCE or on devices (RFC 8628), and for programs, with client credentials.",
      flows: {
        authorizationCode: { authorizationUrl: `${issuer}/authorize`, ...token, scopes: ofUsers },
        clientCredentials: { tokenUrl: `${issuer}/token`, scopes: ofApi },
      },
    },
    client: {
      type: "http",
      scheme: "basic",
      description:
        "OAuth clients, at the token endpoint: the id and the secret by HTTP Basic or in the body, or `private_key_jwt`, as registered.",
    },
    openIdConnect: {
      type: "openIdConnect",
      openIdConnectUrl: `${issuer}/.well-known/openid-configuration`,
      description: "OpenID Connect Discovery: the same access tokens.",
    },
  };
}

/** `posts:read` -> `Read posts.` */
function descriptionOf(scope: string): string {
  const [subject = "", right = ""] = scope.split(":");
  const verbs: Readonly<Record<string, string>> = { read: "Read", write: "Write", manage: "Manage" };
  const verb = verbs[right];
  return verb === undefined ? `The scope ${scope}.` : `${verb} ${subject.replaceAll("-", " ")}.`;
}

/** Any of these suffices. Public operations need none. */
export function securityOf({
  scope,
  isPublic,
}: {
  readonly scope: string | undefined;
  readonly isPublic?: Operation["isPublic"];
}): readonly SecurityRequirement[] {
  const scopes = scope === undefined ? [] : [scope];
  return [
    ...(isPublic ? [{}] : []),
    { bearer: [] },
    { apiKey: [] },
    { oauth2: scopes },
    // The scopes are those of `oauth2`: linters look for them in the scheme.
    { openIdConnect: [] },
  ];
}
