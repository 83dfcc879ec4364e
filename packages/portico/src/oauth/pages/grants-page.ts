// The page on which a person sees what applications may do in their name, and withdraws it.

import type { Issuer } from "../endpoints/issuer.ts";
import type { Grant } from "../interaction/grant.ts";
import { type AccountHeader, accountPage } from "./account-page.ts";
import { scopeInWords } from "./consent-page.ts";
import { html } from "./layout.ts";

export function grantsPage(
  issuer: Issuer,
  user: AccountHeader,
  csrf: string,
  grants: readonly Grant[],
): string {
  // An application is allowed something anew wherever the person signs in to it.
  const listed = [...Map.groupBy(grants, ({ clientId }) => clientId)].map(([clientId, scopeItems]) => {
    const { clientName } = scopeItems[0]!;
    const scopes = new Set(scopeItems.flatMap(({ scopes }) => scopes));
    return html`<section>
<h2>${clientName}</h2>
<ul>
${[...scopes].map((scope) => html`<li>${scopeInWords(scope)}</li>\n`)}</ul>
<form method="post" action="${issuer.path}/grants">
<input type="hidden" name="csrf" value="${csrf}">
<button class="other" type="submit" name="application" value="${clientId}">Withdraw the access of ${clientName}</button>
</form>
</section>
`;
  });
  const body = html`${listed.length > 0 ? listed : html`<p>No application has access.</p>`}`;
  return accountPage(issuer, "Applications with access", user, body);
}
