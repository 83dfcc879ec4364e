// The pages on which people look after their account: who is signed in, and whether a form is theirs.

import type { User } from "../../auth/users/lookup.ts";
import { Hmac } from "../../lib/hmac.ts";
import {
  isCrossSite,
  type PageContext,
  type PageRequest,
  sendPage,
  sendRefusedForm,
} from "../interaction/page-request.ts";
import { errorPage } from "../pages/plain-pages.ts";
import { type Session, sessionOf } from "../provider/patches/session-lookup.ts";

export interface SignedInUser {
  readonly session: Session;
  readonly user: User;
  /** What the forms of these pages carry. */
  readonly csrf: string;
}

/** Who asks for the page, or sends a form of it; undefined where they have been answered already. */
export async function requireSignedIn(
  { provider, users, issuer, csrfKey }: PageContext,
  pageRequest: PageRequest,
): Promise<SignedInUser | undefined> {
  const { request, response, form } = pageRequest;
  const session = await sessionOf(provider, request, response);
  const user = session.accountId === undefined ? undefined : await users.find(session.accountId);
  if (!user) {
    sendPage(issuer, pageRequest, 401, errorPage(issuer, signedOut));
    return undefined;
  }
  const csrfSigner = new Hmac(csrfKey);
  const csrf = `account ${session.uid}`;
  if (form && (isCrossSite(pageRequest) || !csrfSigner.verify(csrf, form.get("csrf")))) {
    sendRefusedForm(issuer, pageRequest);
    return undefined;
  }
  return { session, user, csrf: csrfSigner.sign(csrf) };
}

const signedOut = {
  error: "login_required",
  error_description:
    "You are not signed in. Sign in to one of your applications, then come back to this page.",
};
