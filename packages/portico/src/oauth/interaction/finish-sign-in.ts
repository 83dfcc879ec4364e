// Goes on with a request for authorization once a person has shown who they are.

import type { InteractionResults } from "oidc-provider";
import type { SignInSession } from "../../auth/users/sign-in-sessions.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import type { PageContext, PageRequest } from "./page-request.ts";
import type { PendingAuthorization } from "./pending-authorization.ts";

export async function finishSignIn(
  context: PageContext,
  pageRequest: PageRequest,
  pending: PendingAuthorization,
  login: NonNullable<InteractionResults["login"]>,
): Promise<void> {
  const { provider } = context;
  const { request, response } = pageRequest;
  await endOtherUsersSession(context, pageRequest, pending, login.accountId);
  return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
}

/**
 * A browser is signed in as one person. The session of another ends here, as at `/sessions`: the library would end it
 * by a page whose form a script sends, and whose redirect the policy of that page forbids.
 */
async function endOtherUsersSession(
  { provider, sessions }: PageContext,
  { request, response }: PageRequest,
  { interaction }: PendingAuthorization,
  accountId: string,
): Promise<void> {
  // The library's types do not know that it takes any context of its own.
  const session = await provider.Session.get(provider.createContext(request, response) as never);
  if (session.accountId === undefined || session.accountId === accountId) return;
  // What somebody is signed in with has been kept with all of these.
  await sessions.end([session as unknown as SignInSession]);
  if (interaction.session?.uid !== session.uid) return;
  delete interaction.session;
  await interaction.save(interaction.exp - epochSeconds());
}
