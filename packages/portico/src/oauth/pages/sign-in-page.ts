// The sign-in page.

import { html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { page } from "./layout.ts";
import { passkeyForm } from "./passkey-form.ts";
import { alertHtml } from "./plain-pages.ts";

export interface SignIn {
  readonly clientName: string;
  readonly csrf: string;
  readonly email: string;
  /** The uid of the pending authorization, which is in the path of the page. */
  readonly interaction: string;
  /** The path of the page that creates an account; undefined where people cannot. */
  readonly signUpPath: string | undefined;
  /** The options for signing in with a passkey; undefined if passkeys are not available. */
  readonly passkey: { readonly challengeToken: string; readonly options: object } | undefined;
  /** Why the last attempt failed. */
  readonly error?: string | undefined;
}

export function signInPage(
  issuer: Issuer,
  { clientName, csrf, email, interaction, signUpPath, passkey, error }: SignIn,
): string {
  const action = `${issuer.path}/interaction/${interaction}`;
  const withPasskey =
    passkey &&
    passkeyForm(issuer, { ...passkey, kind: "get", csrf, action, label: "Sign in with a passkey" });
  const signUp =
    signUpPath === undefined
      ? undefined
      : html`\n<p class="secondary"><a href="${issuer.path}${signUpPath}">Create an account</a></p>`;
  const body = html`<h1>Sign in</h1>
<p>to continue to <strong>${clientName}</strong></p>
${alertHtml(error)}
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
<p class="secondary"><a href="${action}/password">Forgot your password?</a></p>${signUp}`;
  return page(issuer, "Sign in", body);
}
