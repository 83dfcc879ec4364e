// The page on which a person sees what applications may do in their name, and withdraws it.

import { signedIn } from "./account.ts";
import { type Exchange, type PageParts, seeOther, show, showRefusedForm } from "./exchange.ts";
import { grantsOf } from "./grant.ts";
import { grantsPage } from "./pages/grants-page.ts";

/** Shows the applications that a person gave access, and withdraws all of that of the one that a form names. */
export async function showGrants(parts: PageParts, exchange: Exchange): Promise<void> {
  const { records, clients, site } = parts;
  const found = await signedIn(parts, exchange);
  if (!found) return;
  const { person, csrf } = found;
  const { form } = exchange;
  const grants = await grantsOf(records, clients, person.id);
  if (!form) return show(site, exchange, 200, grantsPage(site, person, csrf, grants));
  const withdrawn = grants.filter(({ clientId }) => clientId === form.get("application"));
  if (withdrawn.length === 0) return showRefusedForm(site, exchange);
  for (const { id } of withdrawn) await records.removeGrant(id);
  seeOther(site, exchange, "/grants");
}
