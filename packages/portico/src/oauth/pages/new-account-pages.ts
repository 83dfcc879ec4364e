// The pages on which people create their account: by themselves, or invited.

import { type Html, html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { page } from "./layout.ts";
import { alertHtml } from "./plain-pages.ts";

export interface SignUpForm {
  readonly clientId: string;
  readonly clientName: string;
  readonly email: string;
  readonly error?: string | undefined;
}

/** `/sign-up?client_id=...`: asks for the address of somebody who has no account. */
export function signUpPage(issuer: Issuer, { clientId, clientName, email, error }: SignUpForm): string {
  const body = html`<h1>Create an account</h1>
<p>for <strong>${clientName}</strong></p>
<p>Enter your email address, and we will send you a link to create your account.</p>
${alertHtml(error)}
<form method="post" action="${issuer.path}/sign-up">
<input type="hidden" name="client_id" value="${clientId}">
<label>Email address
<input type="email" name="email" value="${email}" autocomplete="username" required maxlength="254"></label>
<button type="submit">Send the link</button>
</form>
<p class="secondary">If you have an account, go back to ${clientName} and sign in.</p>`;
  return page(issuer, "Create an account", body);
}

export function signUpSentPage(issuer: Issuer, email: string): string {
  const body = html`<h1>Check your email</h1>
<p role="status">We have sent an email to ${email}. Its link works for 24 hours.</p>`;
  return page(issuer, "Check your email", body);
}

export interface NewAccountForm {
  /** `/sign-up` or `/invitation` */
  readonly path: string;
  readonly title: string;
  /** What the person joins. */
  readonly introduction: Html;
  readonly email: string;
  readonly token: string;
  readonly name: string;
  readonly error?: string | undefined;
}

/** The page that a link opens: its form creates the account. */
export function newAccountPage(
  issuer: Issuer,
  { path, title, introduction, email, token, name, error }: NewAccountForm,
): string {
  const body = html`<h1>${title}</h1>
${introduction}
<p>You will sign in as ${email}.</p>
${alertHtml(error)}
<form method="post" action="${issuer.path}${path}">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="username" value="${email}" autocomplete="username">
<label>Your name
<input type="text" name="name" value="${name}" autocomplete="name" required maxlength="200"></label>
<label>Password (8 characters or more)
<input type="password" name="password" autocomplete="new-password" required minlength="8" maxlength="256"></label>
<button type="submit">Create the account</button>
</form>`;
  return page(issuer, title, body);
}

export function accountCreatedPage(issuer: Issuer, email: string): string {
  const body = html`<h1>Your account is ready</h1>
<p role="status">Go back to the application and sign in as ${email}.</p>`;
  return page(issuer, "Your account is ready", body);
}
