// The consent page: a user allows or denies the access that an application requests.

import { type Html, html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { page } from "./layout.ts";

export interface Consent {
  readonly clientName: string;
  /** The name of the tenant that owns the client. */
  readonly organization: string;
  readonly email: string;
  readonly scopes: readonly string[];
  readonly csrf: string;
  /** The host of the redirect URI. */
  readonly redirectHost: string | undefined;
}

const scopeDescriptions: Readonly<Record<string, string>> = {
  openid: "Know who you are",
  profile: "See and change your name",
  email: "See your email address",
  offline_access: "Keep access when you are offline, until you revoke it",
};

/** Describes a scope for users: `posts:write` is "Create, change and delete posts". */
export function describeScope(scope: string): string {
  const known = scopeDescriptions[scope];
  if (known !== undefined) return known;
  const [things = scope, action] = scope.split(":");
  const named = things.replaceAll("-", " ");
  if (action === "read") return `See ${named}`;
  if (action === "write") return `Create, change and delete ${named}`;
  if (action === "manage") return `Manage ${named}`;
  return scope;
}

export function consentPage(
  issuer: Issuer,
  { clientName, organization, email, scopes, csrf, redirectHost }: Consent,
): string {
  const scopeItems: Html[] = scopes.map((scope) => html`<li>${describeScope(scope)}</li>\n`);
  const back =
    redirectHost === undefined
      ? undefined
      : html`<p class="secondary">You will be sent back to ${redirectHost}.</p>`;
  const body = html`<h1>${clientName} asks for access</h1>
<p>Made by ${organization}. You are signed in as ${email}.</p>
<p>This will allow it to:</p>
<ul>
${scopeItems}</ul>
<p class="secondary">It will not see your password, and it can do nothing that is not on this list.</p>
${back}
<form method="post">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="scopes" value="${scopes.join(" ")}">
<button type="submit" name="choice" value="allow">Allow</button>
<button class="other" type="submit" name="choice" value="cancel">Do not allow</button>
</form>`;
  return page(issuer, `${clientName} asks for access`, body);
}
