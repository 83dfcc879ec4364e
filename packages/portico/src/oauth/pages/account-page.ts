// The layout of a user's account pages.

import { usersWriteScope } from "../../declare/administrative-scopes.ts";
import { type Html, html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { page } from "./layout.ts";

/** The signed-in user in the header of the page. */
export interface AccountHeader {
  readonly email: string;
  readonly role: string;
}

const pages = [
  ["/account", "Your account"],
  ["/grants", "Applications with access"],
  ["/sessions", "Where you are signed in"],
  ["/passkeys", "Passkeys"],
] as const;

/** For those who manage users. */
const membersPage = ["/members", "Members"] as const;

/** A page of the account with links to the other ones. */
export function accountPage(
  issuer: Issuer,
  title: string,
  { email, role }: AccountHeader,
  body: Html,
): string {
  const managesUsers = issuer.roles.find(({ name }) => name === role)?.scopes.has(usersWriteScope) === true;
  const links = [...pages, ...(managesUsers ? [membersPage] : [])]
    .filter(([, name]) => name !== title)
    .map(([path, name]) => html`<li><a href="${issuer.path}${path}">${name}</a></li>\n`);
  return page(
    issuer,
    title,
    html`<h1>${title}</h1>
<p>You are signed in as ${email}.</p>
${body}
<nav class="secondary" aria-label="Your account">
<ul>
${links}<li><a href="${issuer.path}/logout">Sign out</a></li>
</ul>
</nav>`,
  );
}
