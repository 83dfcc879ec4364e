// Without `scope` in a request of the client credentials grant, oidc-provider 9.13 issues a token without any scope.
// RFC 6749, section 3.3: the server uses a default, which is every scope of the API that the client may have. The
// library reads the parameter again after it has called getResourceServerInfo.

import type { KoaContextWithOIDC } from "oidc-provider";

export function requestAllScopes({ oidc }: KoaContextWithOIDC, allowed: readonly string[]): void {
  Object.assign(oidc.params!, { scope: allowed.join(" ") });
}
