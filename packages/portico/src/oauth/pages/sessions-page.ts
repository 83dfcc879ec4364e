// The page /sessions: where a user is signed in, with forms to sign out.

import { type Html, html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { type AccountHeader, accountPage } from "./account-page.ts";

export interface ShownSession {
  readonly id: string;
  /** Whether it is the session of the request. */
  readonly isCurrent: boolean;
  readonly browser: string;
  readonly address: string;
  /** Seconds since 1970. */
  readonly signedInAt: number;
  readonly seenAt: number;
}

export function sessionsPage(
  issuer: Issuer,
  user: AccountHeader,
  csrf: string,
  sessions: readonly ShownSession[],
): string {
  const form = (button: Html): Html => html`<form method="post" action="${issuer.path}/sessions">
<input type="hidden" name="csrf" value="${csrf}">
${button}
</form>`;
  const listed = sessions.map(({ id, isCurrent, browser, address, signedInAt, seenAt }) => {
    const end = html`<button class="other" type="submit" name="session" value="${id}">Sign out ${browser}</button>`;
    return html`<section>
<h2>${browser}${isCurrent ? " (this session)" : ""}</h2>
<p>Signed in ${timeElement(signedInAt)}, last used ${timeElement(seenAt)}${address === "" ? "" : ` from ${address}`}.</p>
${isCurrent ? undefined : form(end)}
</section>
`;
  });
  const endAll = html`<button type="submit" name="end" value="others">Sign out all other sessions</button>`;
  const body = html`${listed}${sessions.length > 1 ? form(endAll) : undefined}
<p class="secondary">Applications that can keep access when you are offline have it until you revoke it.</p>`;
  return accountPage(issuer, "Where you are signed in", user, body);
}

/** `2026-11-21 09:30 UTC`: the page has no script that could convert it to local time. */
function timeElement(seconds: number): Html {
  const iso = new Date(seconds * 1000).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace("T", " ")} UTC</time>`;
}
