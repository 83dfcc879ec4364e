// If a user signs in where the browser is signed in as another one, oidc-provider 9.13 ends the other session by a
// form that an inline script sends, and whose redirect the Content-Security-Policy of the pages forbids. Portico ends
// that session on the server before the library sees the result of the interaction, as the page /sessions does.

import type Provider from "oidc-provider";
import type { SignInSession, SignInSessions } from "../../../auth/users/sign-in-sessions.ts";
import { epochSeconds } from "../../../lib/epoch-seconds.ts";
import type { Session } from "./session-lookup.ts";

type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

/** @param session the one that the browser presents */
export async function endSessionOfOtherUser(
  sessions: SignInSessions,
  session: Session,
  interaction: Interaction,
  accountId: string,
): Promise<void> {
  if (session.accountId === undefined || session.accountId === accountId) return;
  // The adapter stores every session of a user with the members of a SignInSession.
  await sessions.end([session as unknown as SignInSession]);
  if (interaction.session?.uid !== session.uid) return;
  // The library compares it with the session of the request that resumes the authorization.
  delete interaction.session;
  await interaction.save(interaction.exp - epochSeconds());
}
