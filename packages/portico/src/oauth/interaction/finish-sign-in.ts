// Resumes an authorization request after the user has signed in.

import type { InteractionResults } from "oidc-provider";
import { sessionOf } from "../provider/patches/session-lookup.ts";
import { endSessionOfOtherUser } from "../provider/patches/switched-user.ts";
import type { PageContext, PageRequest } from "./page-request.ts";
import type { PendingAuthorization } from "./pending-authorization.ts";

export async function finishSignIn(
  { provider, sessions }: PageContext,
  { request, response }: PageRequest,
  { interaction }: PendingAuthorization,
  login: NonNullable<InteractionResults["login"]>,
): Promise<void> {
  const session = await sessionOf(provider, request, response);
  await endSessionOfOtherUser(sessions, session, interaction, login.accountId);
  return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
}
