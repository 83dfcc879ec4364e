// The pages on which people look after their account: who is signed in, and whether a form is theirs.

import type Provider from "oidc-provider";
import type { Person } from "../identity/person.ts";
import { Hmac } from "../plan/hmac.ts";
import { type Exchange, isFromElsewhere, type PageParts, show, showRefusedForm } from "./exchange.ts";
import { errorPage } from "./pages/plain-pages.ts";

export type Session = Awaited<ReturnType<Provider["Session"]["get"]>>;

export interface SignedIn {
  readonly session: Session;
  readonly person: Person;
  /** What the forms of these pages carry. */
  readonly csrf: string;
}

/** Who asks for the page, or sends a form of it; undefined where they have been answered already. */
export async function signedIn(
  { provider, people, site, csrfKey }: PageParts,
  exchange: Exchange,
): Promise<SignedIn | undefined> {
  const { request, response, form } = exchange;
  // The library's types do not know that it takes any context of its own.
  const session = await provider.Session.get(provider.createContext(request, response) as never);
  const person = session.accountId === undefined ? undefined : await people.find(session.accountId);
  if (!person) {
    show(site, exchange, 401, errorPage(site, signedOut));
    return undefined;
  }
  const forms = new Hmac(csrfKey);
  const signed = `account ${session.uid}`;
  if (form && (isFromElsewhere(exchange) || !forms.isCodeOf(signed, form.get("csrf")))) {
    showRefusedForm(site, exchange);
    return undefined;
  }
  return { session, person, csrf: forms.sign(signed) };
}

const signedOut = {
  error: "login_required",
  error_description:
    "You are not signed in. Sign in to one of your applications, then come back to this page.",
};
