// The pages for resetting a password: request a link, choose a new password.

import { html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { page } from "./layout.ts";
import { alertHtml } from "./plain-pages.ts";

export interface ForgottenPassword {
  /** The uid of the pending authorization that the user returns to. */
  readonly interaction: string;
  readonly csrf: string;
  readonly error?: string | undefined;
}

export function forgottenPage(issuer: Issuer, { interaction, csrf, error }: ForgottenPassword): string {
  const body = html`<h1>Forgot your password?</h1>
<p>Enter your email address, and we will send you a link to choose a new one.</p>
${alertHtml(error)}
<form method="post">
<input type="hidden" name="csrf" value="${csrf}">
<label>Email address
<input type="email" name="email" autocomplete="username" required maxlength="254"></label>
<button type="submit">Send the link</button>
</form>
<p class="secondary"><a href="${issuer.path}/interaction/${interaction}">Back to sign in</a></p>`;
  return page(issuer, "Forgot your password?", body);
}

export function linkSentPage(issuer: Issuer, interaction: string): string {
  const body = html`<h1>Check your email</h1>
<p role="status">If there is an account with this address, we have sent it an email with a link. The link works for 30 minutes.</p>
<p class="secondary"><a href="${issuer.path}/interaction/${interaction}">Back to sign in</a></p>`;
  return page(issuer, "Check your email", body);
}

export interface NewPassword {
  readonly email: string;
  readonly token: string;
  /** The names of the user's passkeys. */
  readonly passkeys: readonly string[];
  readonly error?: string | undefined;
}

export function newPasswordPage(issuer: Issuer, { email, token, passkeys, error }: NewPassword): string {
  const others = html`<p>These passkeys can also sign in to the account: ${passkeys.join(", ")}.</p>
<label class="choice"><input type="checkbox" name="remove_passkeys" value="yes"> Remove all of them, if you do not recognize one</label>
`;
  const body = html`<h1>Choose a new password</h1>
<p>for ${email}. You will be signed out everywhere, and applications will have to ask you for access again.</p>
${alertHtml(error)}
<form method="post" action="${issuer.path}/password">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="username" value="${email}" autocomplete="username">
<label>New password (8 characters or more)
<input type="password" name="password" autocomplete="new-password" required minlength="8" maxlength="256"></label>
${passkeys.length > 0 ? others : undefined}<button type="submit">Change the password</button>
</form>`;
  return page(issuer, "Choose a new password", body);
}

export function passwordChangedPage(issuer: Issuer): string {
  const body = html`<h1>Your password was changed</h1>
<p role="status">Go back to the application and sign in with the new password.</p>`;
  return page(issuer, "Your password was changed", body);
}
