// The page /members: the users of a tenant with their roles, and invitations, with forms for those who manage them.

import { type Html, html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { type AccountHeader, accountPage } from "./account-page.ts";
import { alertHtml } from "./plain-pages.ts";

export interface ShownMember {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly active: boolean;
  /** Whether it is the person who sees the page. */
  readonly isSelf: boolean;
  readonly isManageable: boolean;
}

export interface ShownInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly status: string;
  readonly expiresAt: string | null;
  readonly isManageable: boolean;
}

export interface ShownMembers {
  readonly csrf: string;
  /** Undefined if the person may not see them. */
  readonly members: readonly ShownMember[] | undefined;
  /** Undefined if nobody can be invited. */
  readonly invitations: readonly ShownInvitation[] | undefined;
  /** The roles that the person may give. */
  readonly roles: readonly string[];
  /** The role that is selected for an invitation. */
  readonly defaultRole: string;
  readonly search: string;
  readonly page: number;
  readonly hasMore: boolean;
  /** The address of a refused invitation. */
  readonly email: string;
  readonly error?: string | undefined;
}

export function membersPage(issuer: Issuer, user: AccountHeader, shown: ShownMembers): string {
  const { invitations, error } = shown;
  const action = `${issuer.path}/members${queryOf(shown, shown.page)}`;
  const form = (fields: Html): Html => html`<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${shown.csrf}">
${fields}
</form>
`;
  const body = html`${alertHtml(error)}
${invitations && invitationSection(invitations, shown, form)}
<h2>Members</h2>
${memberList(issuer, shown, form)}`;
  return accountPage(issuer, "Members", user, body);
}

type Form = (fields: Html) => Html;

function memberList(issuer: Issuer, shown: ShownMembers, form: Form): Html {
  const { members, search } = shown;
  if (members === undefined) return html`<p>Your role does not allow you to see the members.</p>`;
  const found = members.map((each) => memberSection(each, shown, form));
  return html`<form method="get" action="${issuer.path}/members">
<label>Search by name or address
<input type="search" name="q" value="${search}" maxlength="100"></label>
<button class="other" type="submit">Search</button>
</form>
${found.length > 0 ? found : html`<p>Nobody was found.</p>`}${pageLinks(issuer, shown)}`;
}

function memberSection(
  { id, name, email, role, active, isSelf, isManageable }: ShownMember,
  { roles }: ShownMembers,
  form: Form,
): Html {
  const change = form(html`<input type="hidden" name="user" value="${id}">
<label>Role of ${name}
${roleSelect(roles, role)}</label>
<button type="submit" name="change" value="role">Change the role</button>
<button class="other" type="submit" name="change" value="${active ? "deactivate" : "activate"}">${active ? "Deactivate" : "Activate"} ${name}</button>`);
  return html`<section>
<h3>${name}${isSelf ? " (you)" : ""}</h3>
<p>${email}, ${role}${active ? "" : ", deactivated"}</p>
${isManageable && !isSelf ? html`<details><summary>Change ${name}</summary>\n${change}</details>` : undefined}
</section>
`;
}

function invitationSection(
  invitations: readonly ShownInvitation[],
  { roles, defaultRole, email }: ShownMembers,
  form: Form,
): Html {
  const listed = invitations.map(
    (each) => html`<section>
<h3>${each.email}</h3>
<p>${each.role}, ${each.status === "expired" ? "expired" : `valid until ${each.expiresAt?.slice(0, 10) ?? ""}`}</p>
${each.isManageable ? form(invitationButtons(each)) : undefined}</section>
`,
  );
  const invite = form(html`<label>Email address
<input type="email" name="email" value="${email}" autocomplete="off" required maxlength="254"></label>
<label>Role
${roleSelect(roles, defaultRole)}</label>
<button type="submit" name="change" value="invite">Invite</button>`);
  return html`<h2>Invite somebody</h2>
${invite}${listed.length > 0 ? html`<h2>Invitations</h2>\n` : undefined}${listed}`;
}

function invitationButtons({ id, email }: ShownInvitation): Html {
  return html`<input type="hidden" name="invitation" value="${id}">
<button class="other" type="submit" name="change" value="send">Send the email again to ${email}</button>
<button class="other" type="submit" name="change" value="withdraw">Withdraw the invitation of ${email}</button>`;
}

function roleSelect(roles: readonly string[], selected: string): Html {
  const options = roles.map((role) =>
    role === selected ? html`<option selected>${role}</option>\n` : html`<option>${role}</option>\n`,
  );
  return html`<select name="role">
${options}</select>`;
}

function pageLinks(issuer: Issuer, shown: ShownMembers): Html | undefined {
  const { page, hasMore } = shown;
  const link = (text: string, number: number): Html =>
    html`<li><a href="${issuer.path}/members${queryOf(shown, number)}">${text}</a></li>\n`;
  const links = [
    ...(page > 1 ? [link("Previous page", page - 1)] : []),
    ...(hasMore ? [link("Next page", page + 1)] : []),
  ];
  return links.length === 0 ? undefined : html`<nav aria-label="Pages"><ul>\n${links}</ul></nav>`;
}

function queryOf({ search }: Pick<ShownMembers, "search">, page: number): string {
  const query = new URLSearchParams({
    ...(search !== "" && { q: search }),
    ...(page > 1 && { page: String(page) }),
  });
  return query.size === 0 ? "" : `?${query}`;
}
