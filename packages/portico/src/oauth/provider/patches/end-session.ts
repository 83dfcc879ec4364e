// At the end-session endpoint, oidc-provider 9.13 stores a session for a browser that has none and responds with a
// form that an inline script sends, which the Content-Security-Policy of the pages forbids. Portico responds with the
// signed-out page at once (OpenID Connect RP-Initiated Logout, section 2).

import type Provider from "oidc-provider";
import type { Issuer } from "../../endpoints/issuer.ts";
import { signedOutPage } from "../../pages/plain-pages.ts";
import { setPage } from "../page-response.ts";
import { routes } from "../routes.ts";
import { sessionOf } from "./session-lookup.ts";

export function showSignedOut(provider: Provider, issuer: Issuer): void {
  provider.use(async (context, next) => {
    if (context.path !== routes.end_session) return next();
    const { accountId } = await sessionOf(provider, context.req, context.res);
    if (accountId !== undefined) return next();
    setPage(context, signedOutPage(issuer));
  });
}
