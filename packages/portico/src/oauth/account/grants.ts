// `/grants`: the applications with access to a user's account.

import { grantsOf } from "../interaction/grant.ts";
import {
  type PageContext,
  type PageRequest,
  redirectSeeOther,
  sendPage,
  sendRefusedForm,
} from "../interaction/page-request.ts";
import { grantsPage } from "../pages/grants-page.ts";
import { requireSignedIn } from "./signed-in.ts";

/** Shows the applications with access; a form revokes all access of one of them. */
export async function showGrants(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { records, clients, issuer } = context;
  const signedIn = await requireSignedIn(context, pageRequest);
  if (!signedIn) return;
  const { user, csrf } = signedIn;
  const { form } = pageRequest;
  const grants = await grantsOf(records, clients, user.id);
  if (!form) return sendPage(issuer, pageRequest, 200, grantsPage(issuer, user, csrf, grants));
  const revoked = grants.filter(({ clientId }) => clientId === form.get("application"));
  if (revoked.length === 0) return sendRefusedForm(issuer, pageRequest);
  for (const { id } of revoked) await records.deleteGrant(id);
  redirectSeeOther(issuer, pageRequest, "/grants");
}
