// The page on which a person sees what applications may do in their name, and withdraws it.

import { signedIn } from "./account.ts";
import { type Exchange, type PageParts, seeOther, show, showRefusedForm } from "./exchange.ts";
import { grantsOf } from "./grant.ts";
import { grantsPage } from "./pages/grants-page.ts";

/** Shows a person's grants, and withdraws the one that a form names. */
export async function showGrants(parts: PageParts, exchange: Exchange): Promise<void> {
  const { records, clients, site } = parts;
  const found = await signedIn(parts, exchange);
  if (!found) return;
  const { person, csrf } = found;
  const { form } = exchange;
  const grants = await grantsOf(records, clients, person.id);
  if (!form) return show(site, exchange, 200, grantsPage(site, person, csrf, grants));
  const withdrawn = grants.find(({ id }) => id === form.get("grant"));
  if (!withdrawn) return showRefusedForm(site, exchange);
  await records.removeGrant(withdrawn.id);
  seeOther(site, exchange, "/grants");
}
