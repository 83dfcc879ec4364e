// oidc-provider 9.13 finds the session of a request by `Session.get`, which it documents for its own context only. The
// method reads no more of a context than `req`, `res` and `secure`, so it also works with `provider.createContext`.

import type { IncomingMessage, ServerResponse } from "node:http";
import type Provider from "oidc-provider";

export type Session = Awaited<ReturnType<Provider["Session"]["get"]>>;

/** The session of a request's cookie; a new one without `accountId` if there is none. */
export function sessionOf(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Session> {
  // The types ask for the context of a request that oidc-provider handles.
  return provider.Session.get(provider.createContext(request, response) as never);
}
