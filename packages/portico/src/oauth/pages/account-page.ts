// What the pages of a person's account share.

import type { Issuer } from "../endpoints/issuer.ts";
import { type Html, html, page } from "./layout.ts";

/** Who is shown to be signed in. */
export interface AccountHeader {
  readonly email: string;
}

const pages = [
  ["/account", "Your email address"],
  ["/grants", "Applications with access"],
  ["/sessions", "Where you are signed in"],
  ["/passkeys", "Passkeys"],
] as const;

/** A page of the account, with the way to the others below it. */
export function accountPage(issuer: Issuer, title: string, { email }: AccountHeader, body: Html): string {
  const links = pages
    .filter(([, name]) => name !== title)
    .map(([path, name]) => html`<li><a href="${issuer.path}${path}">${name}</a></li>\n`);
  return page(
    issuer,
    title,
    html`<h1>${title}</h1>
<p>You are signed in as ${email}.</p>
${body}
<nav class="quiet" aria-label="Your account">
<ul>
${links}<li><a href="${issuer.path}/logout">Sign out</a></li>
</ul>
</nav>`,
  );
}
