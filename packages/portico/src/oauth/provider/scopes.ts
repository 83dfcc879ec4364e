// The scopes of the API that a request may have.

import type { KoaContextWithOIDC } from "oidc-provider";
import { openIdScopes } from "../../auth/clients/rules.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import type { Library } from "./library.ts";
import { requestAllScopes } from "./patches/client-credentials-scope.ts";

/** The library's names of the endpoints at which an application requests access to a user's account. */
const interactiveRoutes = ["authorization", "device_authorization", "pushed_authorization_request"];

/** @throws InvalidScope for an unknown scope, or for none where a user is asked */
export function allowedScopes(
  context: KoaContextWithOIDC,
  client: Readonly<{ scope?: string }>,
  issuer: Issuer,
  errors: Library["errors"],
): readonly string[] {
  const { params, route = "" } = context.oidc;
  const requested = typeof params?.["scope"] === "string" ? params["scope"].split(" ") : [];
  // Users are never asked for everything that a client may have because it named nothing.
  if (requested.length === 0 && interactiveRoutes.includes(route))
    throw new errors.InvalidScope("scope is required: name what the application requests", "");
  const isKnown = (scope: string): boolean => openIdScopes.includes(scope) || issuer.scopes.includes(scope);
  const unknown = requested.find((scope) => scope !== "" && !isKnown(scope));
  if (unknown !== undefined) throw new errors.InvalidScope("requested scope is not known", unknown);
  if (client.scope === undefined && requested.length > 0)
    throw new errors.InvalidScope("requested scope is not allowed", requested.join(" "));
  // Read from the client at each request: a refresh does not renew a scope that the client has lost.
  const scopesOfClient = new Set(client.scope?.split(" "));
  const scopesOfApi = issuer.scopes.filter((scope) => scopesOfClient.has(scope));
  if (params?.["grant_type"] === "client_credentials") {
    if (requested.length === 0) requestAllScopes(context, scopesOfApi);
    // The scopes of OpenID Connect describe a user, and this grant has none.
    return scopesOfApi;
  }
  return [...openIdScopes.filter((scope) => scopesOfClient.has(scope)), ...scopesOfApi];
}
