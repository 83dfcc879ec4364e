// The page on which a person sees where they are signed in, and ends that.

import type { Issuer } from "../endpoints/issuer.ts";
import { type AccountHeader, accountPage } from "./account-page.ts";
import { type Html, html } from "./layout.ts";

export interface ShownSession {
  readonly id: string;
  /** The one in which the page is looked at. */
  readonly isThis: boolean;
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
  const listed = sessions.map(({ id, isThis, browser, address, signedInAt, seenAt }) => {
    const end = html`<button class="other" type="submit" name="session" value="${id}">End the session of ${browser}</button>`;
    return html`<section>
<h2>${browser}${isThis ? " (this session)" : ""}</h2>
<p>Signed in ${timeElement(signedInAt)}, last used ${timeElement(seenAt)}${address === "" ? "" : ` from ${address}`}.</p>
${isThis ? undefined : form(end)}
</section>
`;
  });
  const endAll = html`<button type="submit" name="end" value="others">End all other sessions</button>`;
  const body = html`${listed}${sessions.length > 1 ? form(endAll) : undefined}
<p class="quiet">Applications that may go on while you are away keep their access until you withdraw it.</p>`;
  return accountPage(issuer, "Where you are signed in", user, body);
}

/** `2026-11-21 09:30 UTC`: pages have no script that knows where their reader is. */
function timeElement(seconds: number): Html {
  const iso = new Date(seconds * 1000).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace("T", " ")} UTC</time>`;
}
