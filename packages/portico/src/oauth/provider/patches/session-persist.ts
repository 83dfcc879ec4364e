// `Session.persist` of oidc-provider 9.13 throws for a session that was not stored before. The device page does that:
// an error in its form sets the state of a new session after the library has decided whether to store it, and the
// request ends with a 500. Portico stores the session and sets its cookie, so the form of the error page works.

import type Provider from "oidc-provider";
import { anonymousSessionSeconds, cookieNames, sessionCookie } from "../cookies.ts";
import type { Library } from "../library.ts";

interface StoredSession {
  readonly id: string;
  /** Undefined for a session that was not stored yet. */
  readonly exp?: number;
  persist(): Promise<unknown>;
  save(seconds: number): Promise<unknown>;
}

export function persistNewSessions(provider: Provider, library: Library): void {
  const session = provider.Session.prototype as unknown as StoredSession;
  const { persist } = session;
  session.persist = async function (this: StoredSession) {
    if (typeof this.exp === "number") return persist.call(this);
    library.Provider.ctx?.oidc.cookies.set(cookieNames.session, this.id, sessionCookie(provider.issuer));
    return this.save(anonymousSessionSeconds);
  };
}
