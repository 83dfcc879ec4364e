// The signed-in user of an account page, and the check that a form belongs to their session.

import type { User } from "../../auth/users/lookup.ts";
import { scopesOfRole } from "../../auth/users/role-rules.ts";
import type { Caller } from "../../declare/caller.ts";
import { Hmac } from "../../lib/hmac.ts";
import type { Model } from "../../model/model.ts";
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
  /** The token in the forms of these pages. */
  readonly csrf: string;
}

/** The signed-in user; undefined if an error page was sent instead. */
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
  const csrfSubject = `account ${session.uid}`;
  if (form && (isCrossSite(pageRequest) || !csrfSigner.verify(csrfSubject, form.get("csrf")))) {
    sendRefusedForm(issuer, pageRequest);
    return undefined;
  }
  return { session, user, csrf: csrfSigner.sign(csrfSubject) };
}

/** The signed-in user as a caller, with all that their role allows. */
export function callerOf(model: Model, { id, tenantId, role }: User, address: string): Caller {
  const scopes = scopesOfRole(model, role);
  return { kind: "user", tenantId, userId: id, role, credentialId: `pages/${id}`, scopes, address };
}

const signedOut = {
  error: "login_required",
  error_description:
    "You are not signed in. Sign in to one of your applications, then come back to this page.",
};
