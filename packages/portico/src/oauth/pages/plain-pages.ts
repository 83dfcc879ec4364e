// Pages that tell something, and the one that asks whether to sign out.

import type { Issuer } from "../endpoints/issuer.ts";
import { Html, html, page } from "./layout.ts";

/** What was wrong with the last try, read out at once; nothing where there was none. */
export function errorMessage(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<p class="wrong" role="alert">${text}</p>`;
}

/** Why there is nothing to go on to; never a redirect, because where it would lead is not trusted. */
export function errorPage(
  issuer: Issuer,
  { error, error_description: description }: Readonly<Record<string, unknown>>,
): string {
  const body = html`<h1>This did not work</h1>
<p>${String(description ?? "The application that sent you here has asked for something that cannot be done.")}</p>
<p class="quiet">Go back to the application and try again. If it happens again, tell its makers: <code>${String(error)}</code>.</p>`;
  return page(issuer, "Error", body);
}

/** @param form the library's own form, which its buttons send */
export function endSessionPage(issuer: Issuer, form: string): string {
  const body = html`<h1>Sign out of ${issuer.brand.name}?</h1>
${new Html(form)}
<button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>
<button class="other" type="submit" form="op.logoutForm">Stay signed in</button>`;
  return page(issuer, "Sign out", body);
}

export function signedOutPage(issuer: Issuer): string {
  const body = html`<h1>You are signed out</h1>
<p>You can close this page.</p>`;
  return page(issuer, "Signed out", body);
}
