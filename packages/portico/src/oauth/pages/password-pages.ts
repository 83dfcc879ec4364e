// The pages on which a person asks for a link to choose another password, and chooses it.

import type { Issuer } from "../endpoints/issuer.ts";
import { html, page } from "./layout.ts";
import { errorMessage as faultHtml } from "./plain-pages.ts";

export interface ForgottenPassword {
  /** The request for authorization to go back to. */
  readonly interaction: string;
  readonly csrf: string;
  readonly error?: string | undefined;
}

export function forgottenPage(issuer: Issuer, { interaction, csrf, error }: ForgottenPassword): string {
  const body = html`<h1>Forgot your password?</h1>
<p>We send you a link with which you choose a new one.</p>
${faultHtml(error)}
<form method="post">
<input type="hidden" name="csrf" value="${csrf}">
<label>Email address
<input type="email" name="email" autocomplete="username" required maxlength="254"></label>
<button type="submit">Send the link</button>
</form>
<p class="quiet"><a href="${issuer.path}/interaction/${interaction}">Back to sign in</a></p>`;
  return page(issuer, "Forgot your password?", body);
}

export function linkSentPage(issuer: Issuer, interaction: string): string {
  const body = html`<h1>Look into your mail</h1>
<p role="status">If there is an account with this address, a mail with a link is on its way. The link works for half an hour.</p>
<p class="quiet"><a href="${issuer.path}/interaction/${interaction}">Back to sign in</a></p>`;
  return page(issuer, "Look into your mail", body);
}

export interface NewPassword {
  readonly email: string;
  readonly token: string;
  /** The names of those with which the account can be opened as well. */
  readonly passkeys: readonly string[];
  readonly error?: string | undefined;
}

export function newPasswordPage(issuer: Issuer, { email, token, passkeys, error }: NewPassword): string {
  const others = html`<p>With these passkeys, too, the account can be opened: ${passkeys.join(", ")}.</p>
<label class="choice"><input type="checkbox" name="remove_passkeys" value="yes"> Remove them, if one is not yours</label>
`;
  const body = html`<h1>Choose a new password</h1>
<p>for ${email}. You will be signed out everywhere, and applications have to ask you again.</p>
${faultHtml(error)}
<form method="post" action="${issuer.path}/password">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="username" value="${email}" autocomplete="username">
<label>New password, 8 characters or more
<input type="password" name="password" autocomplete="new-password" required minlength="8" maxlength="256"></label>
${passkeys.length > 0 ? others : undefined}<button type="submit">Change the password</button>
</form>`;
  return page(issuer, "Choose a new password", body);
}

export function passwordChangedPage(issuer: Issuer): string {
  const body = html`<h1>Your password is changed</h1>
<p role="status">Go back to the application and sign in with it.</p>`;
  return page(issuer, "Your password is changed", body);
}
