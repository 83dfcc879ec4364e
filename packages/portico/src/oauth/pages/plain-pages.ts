// Pages without input: errors, refusals, sign-out and its confirmation.

import { Html, html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { page } from "./layout.ts";

/** An error message that screen readers announce; nothing if there is none. */
export function alertHtml(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<p class="error" role="alert">${text}</p>`;
}

/** Reports an error of an authorization request whose redirect URI cannot be trusted. */
export function errorPage(
  issuer: Issuer,
  { error, error_description: description }: Readonly<Record<string, unknown>>,
): string {
  const body = html`<h1>Something went wrong</h1>
<p>${String(description ?? "The application that sent you here made a request that cannot be completed.")}</p>
<p class="secondary">Go back to the application and try again. If it happens again, report this code to its developers: <code>${String(error)}</code>.</p>`;
  return page(issuer, "Error", body);
}

export interface Refusal {
  readonly title: string;
  readonly text: string;
}

/** Refuses what would be refused again, such as a link that has expired. */
export function refusalPage(issuer: Issuer, { title, text }: Refusal): string {
  return page(issuer, title, html`<h1>${title}</h1>\n<p>${text}</p>`);
}

/** @param form the form of oidc-provider, which the buttons submit */
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
