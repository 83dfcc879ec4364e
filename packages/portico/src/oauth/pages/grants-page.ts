// The page /grants: the applications with access to a user's account, with forms to revoke it.

import { html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import type { Grant } from "../interaction/grant.ts";
import { type AccountHeader, accountPage } from "./account-page.ts";
import { describeScope } from "./consent-page.ts";

export function grantsPage(
  issuer: Issuer,
  user: AccountHeader,
  csrf: string,
  grants: readonly Grant[],
): string {
  // An application has one grant for each browser in which the user allowed it.
  const listed = [...Map.groupBy(grants, ({ clientId }) => clientId)].map(([clientId, grantsOfClient]) => {
    const { clientName } = grantsOfClient[0]!;
    const scopes = new Set(grantsOfClient.flatMap(({ scopes }) => scopes));
    return html`<section>
<h2>${clientName}</h2>
<ul>
${[...scopes].map((scope) => html`<li>${describeScope(scope)}</li>\n`)}</ul>
<form method="post" action="${issuer.path}/grants">
<input type="hidden" name="csrf" value="${csrf}">
<button class="other" type="submit" name="application" value="${clientId}">Revoke access of ${clientName}</button>
</form>
</section>
`;
  });
  const body = html`${listed.length > 0 ? listed : html`<p>No application has access.</p>`}`;
  return accountPage(issuer, "Applications with access", user, body);
}
