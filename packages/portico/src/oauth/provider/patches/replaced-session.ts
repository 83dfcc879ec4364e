// oidc-provider 9.13 stores the session at the end of every request that read it. Of two requests at once, the slower
// one stores the session again under an id that the other one has replaced, with the state that it had before, and
// sets that id as the cookie. Portico updates such a session only if it still exists (adapter.ts); if it does not, the
// response sets no session cookie, so the browser keeps the newer one.

import type { KoaContextWithOIDC } from "oidc-provider";

/** The id of the session that the request's cookie presents. */
export function presentedSession({ oidc }: KoaContextWithOIDC): string | undefined {
  return oidc.cookies.get(oidc.provider.cookieName("session"), { signed: true });
}

export function suppressSessionCookie({ oidc, response }: KoaContextWithOIDC): void {
  const name = oidc.provider.cookieName("session");
  const cookies = [response.get("Set-Cookie")].flat().filter((line) => line !== "");
  const others = cookies.filter((line) => !line.startsWith(`${name}=`) && !line.startsWith(`${name}.sig=`));
  response.remove("Set-Cookie");
  if (others.length > 0) response.set("Set-Cookie", others);
}
