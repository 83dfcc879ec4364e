// The page that confirms an email address. Opening the link changes nothing, because mail filters open every link;
// submitting its form does.

import type { User } from "../../auth/users/lookup.ts";
import { Problem } from "../../errors.ts";
import { type PageContext, type PageRequest, sendPage } from "../interaction/page-request.ts";
import { attemptPassword, setRetryAfter } from "../interaction/password-attempt.ts";
import { confirmEmailPage, emailConfirmedPage } from "../pages/email-pages.ts";
import { openedLink, sendInvalidLink } from "./email-link.ts";

/** `/email?token=...`, the link in the email. */
export async function confirmEmail(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { issuer, links } = context;
  const link = await openedLink(context, pageRequest, "email");
  if (!link) return;
  const { user, email, token } = link;
  const isNew = user.email !== email;
  const showForm = (status: number, error?: string): void =>
    sendPage(issuer, pageRequest, status, confirmEmailPage(issuer, { email, token, isNew, error }));
  if (!pageRequest.form) return showForm(200);
  // An application may have requested the change, to an address of its developer: only the user knows the password.
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

/** The response to a form without the correct password; undefined if it is correct. */
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
