// The page on which a person shows who they are.

import type { Issuer } from "../endpoints/issuer.ts";
import { html, page } from "./layout.ts";
import { passkeyForm } from "./passkey-form.ts";
import { errorMessage as faultHtml } from "./plain-pages.ts";

export interface SignIn {
  readonly clientName: string;
  readonly csrf: string;
  readonly email: string;
  /** The path of the page is named after it. */
  readonly interaction: string;
  /** What the browser is asked for a passkey; none where there can be none. */
  readonly passkey: { readonly challengeToken: string; readonly options: object } | undefined;
  /** What was wrong with the last try. */
  readonly error?: string | undefined;
}

export function signInPage(
  issuer: Issuer,
  { clientName, csrf, email, interaction, passkey, error }: SignIn,
): string {
  const action = `${issuer.path}/interaction/${interaction}`;
  const withPasskey =
    passkey &&
    passkeyForm(issuer, { ...passkey, kind: "get", csrf, action, label: "Sign in with a passkey" });
  const body = html`<h1>Sign in</h1>
<p>to go on to <strong>${clientName}</strong></p>
${faultHtml(error)}
<form method="post">
<input type="hidden" name="csrf" value="${csrf}">
<label>Email address
<input type="email" name="email" value="${email}" autocomplete="username" required maxlength="254"></label>
<label>Password
<input type="password" name="password" autocomplete="current-password" required maxlength="256"></label>
<button type="submit" name="choice" value="sign-in">Sign in</button>
</form>
${withPasskey}
<form method="post">
<input type="hidden" name="csrf" value="${csrf}">
<button class="other" type="submit" name="choice" value="cancel">Cancel</button>
</form>
<p class="quiet"><a href="${action}/password">Forgot your password?</a></p>`;
  return page(issuer, "Sign in", body);
}
