// Resetting a password: the page that requests a link, and the one that the link opens. Opening the link changes nothing,
// because mail filters open every link; submitting its form does.

import { passwordError } from "../../auth/users/password.ts";
import {
  type PageContext,
  type PageRequest,
  sendPage,
  tooManyAttemptsMessage,
} from "../interaction/page-request.ts";
import { isForged, pendingAuthorization, sendInteractionPage } from "../interaction/pending-authorization.ts";
import {
  forgottenPage,
  linkSentPage,
  newPasswordPage,
  passwordChangedPage,
} from "../pages/password-pages.ts";
import { openedLink, sendInvalidLink } from "./email-link.ts";

/** `/interaction/{uid}/password`: requests a link. The response is the same whether or not the account exists. */
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
  const seconds = await bruteForce.secondsToWaitForEmail(attempt, "password");
  if (seconds > 0) {
    response.setHeader("Retry-After", String(seconds));
    return showForm(429, tooManyAttemptsMessage(seconds));
  }
  await links.request({ ...attempt, purpose: "password" });
  sendPage(issuer, pageRequest, 200, linkSentPage(issuer, interaction));
}

/** `/password?token=...`, the link in the email. */
export async function choosePassword(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { issuer, links, passkeys } = context;
  const { form, address } = pageRequest;
  const link = await openedLink(context, pageRequest, "password");
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
