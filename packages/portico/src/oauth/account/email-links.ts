// Pages around links that are sent by mail: one to choose another password, one to confirm an address. To look at a
// page uses nothing up, because programs that check mails look at every link; sending its form does.

import type { ValidLink } from "../../auth/users/email-links.ts";
import type { User } from "../../auth/users/lookup.ts";
import { passwordError } from "../../auth/users/password.ts";
import { Problem } from "../../errors.ts";
import type { LinkPurpose } from "../../mail/account-emails.ts";
import {
  isCrossSite,
  type PageContext,
  type PageRequest,
  redirectSeeOther,
  sendPage,
  sendRefusedForm,
  sendTooManyRequests,
  tooManyAttemptsMessage,
} from "../interaction/page-request.ts";
import { attemptPassword, setRetryAfter } from "../interaction/password-attempt.ts";
import { isForged, pendingAuthorization, sendInteractionPage } from "../interaction/pending-authorization.ts";
import { confirmEmailPage, emailConfirmedPage, emailPage } from "../pages/email-pages.ts";
import {
  forgottenPage,
  linkSentPage,
  newPasswordPage,
  passwordChangedPage,
} from "../pages/password-pages.ts";
import { errorPage } from "../pages/plain-pages.ts";
import { requireSignedIn } from "./signed-in.ts";

/** `/interaction/{id}/password`: somebody cannot sign in. The answer is the same whether there is such a person. */
export async function requestPasswordLink(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { issuer, bruteForce, links } = context;
  const pending = await pendingAuthorization(context, pageRequest);
  const { csrf, client } = pending;
  const interaction = pending.interaction.uid;
  const showForm = (status: number, error?: string): void =>
    sendInteractionPage(
      context,
      pageRequest,
      pending,
      status,
      forgottenPage(issuer, { interaction, csrf, error }),
    );
  const { form, address, response } = pageRequest;
  if (!form) return showForm(200);
  if (isForged(context, pageRequest, pending)) return showForm(403);
  const email = (form.get("email") ?? "").trim();
  if (!email.includes("@") || email.length > 254) return showForm(422, "Enter a valid email address.");
  const attempt = { tenantId: client.tenantId, email, address };
  const seconds = await bruteForce.secondsToWaitForMail(attempt, "password");
  if (seconds > 0) {
    response.setHeader("Retry-After", String(seconds));
    return showForm(429, tooManyAttemptsMessage(seconds));
  }
  await links.request({ ...attempt, purpose: "password" });
  sendPage(issuer, pageRequest, 200, linkSentPage(issuer, interaction));
}

/** `/password`, where the link of the mail leads. */
export async function choosePassword(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { issuer, links, passkeys } = context;
  const { form, address } = pageRequest;
  const link = await foundLink(context, pageRequest, "password");
  if (!link) return;
  const { user, token } = link;
  const names = (await passkeys.list(user)).map(({ name }) => name);
  const shown = { email: user.email, token, passkeys: names };
  if (!form) return sendPage(issuer, pageRequest, 200, newPasswordPage(issuer, shown));
  const password = form.get("password") ?? "";
  const error = passwordError(password);
  if (error !== undefined) {
    const message = `${error.charAt(0).toUpperCase()}${error.slice(1)}.`;
    return sendPage(issuer, pageRequest, 422, newPasswordPage(issuer, { ...shown, error: message }));
  }
  const chosen = { password, address, removesPasskeys: form.has("remove_passkeys") };
  if (!(await links.resetPassword(token, chosen))) return sendInvalidLink(context, pageRequest);
  sendPage(issuer, pageRequest, 200, passwordChangedPage(issuer));
}

/** `/email`, where the link of the mail leads. */
export async function confirmEmail(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { issuer, links } = context;
  const link = await foundLink(context, pageRequest, "email");
  if (!link) return;
  const { user, email, token } = link;
  const isNew = user.email !== email;
  const showForm = (status: number, error?: string): void =>
    sendPage(issuer, pageRequest, status, confirmEmailPage(issuer, { email, token, isNew, error }));
  if (!pageRequest.form) return showForm(200);
  // An application asked for the new address, which may be one of its maker's: only the person knows the password.
  const refusal = isNew ? await passwordRefusal(context, pageRequest, user) : undefined;
  if (refusal) return showForm(refusal.status, refusal.error);
  try {
    if (!(await links.verifyEmail(token))) return sendInvalidLink(context, pageRequest);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "conflict") throw error;
    return showForm(409, "Another account uses this address.");
  }
  sendPage(issuer, pageRequest, 200, emailConfirmedPage(issuer));
}

/** What is answered to whoever does not know the password of the person. */
async function passwordRefusal(
  context: PageContext,
  pageRequest: PageRequest,
  { tenantId, email }: User,
): Promise<{ readonly status: number; readonly error: string } | undefined> {
  const password = pageRequest.form?.get("password") ?? "";
  const { user, seconds } = await attemptPassword(context, pageRequest, { tenantId, email, password });
  if (seconds > 0) return { status: 429, error: setRetryAfter(pageRequest, seconds) };
  return user ? undefined : { status: 401, error: "The password is wrong." };
}

/** `/account`: whether the address is confirmed, and a mail with which to do that. */
export async function showAccount(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { issuer, bruteForce, links } = context;
  const signedIn = await requireSignedIn(context, pageRequest);
  if (!signedIn) return;
  const { user, csrf } = signedIn;
  const isSent = pageRequest.query.has("sent");
  if (!pageRequest.form) return sendPage(issuer, pageRequest, 200, emailPage(issuer, user, csrf, isSent));
  if (user.isEmailVerified) return redirectSeeOther(issuer, pageRequest, "/account");
  const { tenantId, email } = user;
  const attempt = { tenantId, email, address: pageRequest.address };
  const seconds = await bruteForce.secondsToWaitForMail(attempt, "email");
  if (seconds > 0) return sendTooManyRequests(issuer, pageRequest, seconds);
  await links.request({ ...attempt, purpose: "email" });
  redirectSeeOther(issuer, pageRequest, "/account?sent");
}

/** The link that was opened; undefined where its bearer has been answered already. */
async function foundLink(
  context: PageContext,
  pageRequest: PageRequest,
  purpose: LinkPurpose,
): Promise<(ValidLink & { readonly token: string }) | undefined> {
  const { form, query } = pageRequest;
  if (form && isCrossSite(pageRequest)) {
    sendRefusedForm(context.issuer, pageRequest);
    return undefined;
  }
  const token = (form ?? query).get("token") ?? "";
  const found = await context.links.find(purpose, token);
  if (!found) sendInvalidLink(context, pageRequest);
  return found && { ...found, token };
}

function sendInvalidLink({ issuer }: PageContext, pageRequest: PageRequest): void {
  sendPage(issuer, pageRequest, 400, errorPage(issuer, invalidLink));
}

const invalidLink = {
  error: "invalid_link",
  error_description: "This link has expired, was used already, or is incomplete. Request a new one.",
};
