// The session that a browser shows with a request, as the library reads it from its cookie.

import type { KoaContextWithOIDC } from "oidc-provider";

/** The id of the session that a request shows; undefined where it shows none. */
export function presentedSession({ oidc }: KoaContextWithOIDC): string | undefined {
  return oidc.cookies.get(oidc.provider.cookieName("session"), { signed: true });
}

/** Leaves the browser with the session that another of its requests was given meanwhile. */
export function suppressSessionCookie({ oidc, response }: KoaContextWithOIDC): void {
  const name = oidc.provider.cookieName("session");
  const cookies = [response.get("Set-Cookie")].flat().filter((line) => line !== "");
  const others = cookies.filter((line) => !line.startsWith(`${name}=`) && !line.startsWith(`${name}.sig=`));
  response.remove("Set-Cookie");
  if (others.length > 0) response.set("Set-Cookie", others);
}
