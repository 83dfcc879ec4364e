// The page on which a person shows who they are.

import type { Site } from "../site.ts";
import { html, page } from "./layout.ts";

export interface SignIn {
  readonly clientName: string;
  readonly csrf: string;
  readonly email: string;
  /** What was wrong with the last try. */
  readonly fault?: string | undefined;
}

export function signInPage(site: Site, { clientName, csrf, email, fault }: SignIn): string {
  const told = fault === undefined ? undefined : html`<p class="wrong" role="alert">${fault}</p>`;
  const body = html`<h1>Sign in</h1>
<p>to go on to <strong>${clientName}</strong></p>
${told}
<form method="post">
<input type="hidden" name="csrf" value="${csrf}">
<label>Email address
<input type="email" name="email" value="${email}" autocomplete="username" required maxlength="254"></label>
<label>Password
<input type="password" name="password" autocomplete="current-password" required maxlength="256"></label>
<button type="submit" name="choice" value="sign-in">Sign in</button>
<button class="other" type="submit" name="choice" value="cancel" formnovalidate>Cancel</button>
</form>`;
  return page(site, "Sign in", body);
}
