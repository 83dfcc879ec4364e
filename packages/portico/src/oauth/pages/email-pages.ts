// The page that confirms an email address.

import { html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { page } from "./layout.ts";
import { alertHtml } from "./plain-pages.ts";

export interface Confirmation {
  readonly email: string;
  readonly token: string;
  /** Whether the address replaces another one, which takes the password. */
  readonly isNew: boolean;
  readonly error?: string | undefined;
}

export function confirmEmailPage(issuer: Issuer, { email, token, isNew, error }: Confirmation): string {
  const password = html`<p>It will replace the current address of your account.</p>
<label>Password
<input type="password" name="password" autocomplete="current-password" required maxlength="256"></label>
`;
  const body = html`<h1>Confirm your email address</h1>
<p>Is ${email} your address?</p>
${alertHtml(error)}
<form method="post" action="${issuer.path}/email">
<input type="hidden" name="token" value="${token}">
${isNew ? password : undefined}<button type="submit">Yes, confirm it</button>
</form>`;
  return page(issuer, "Confirm your email address", body);
}

export function emailConfirmedPage(issuer: Issuer): string {
  const body = html`<h1>Your address is confirmed</h1>
<p role="status">You can close this page.</p>`;
  return page(issuer, "Your address is confirmed", body);
}
