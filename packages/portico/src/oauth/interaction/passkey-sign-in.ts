// Sign-in with a passkey, which identifies the user.

import type { User } from "../../auth/users/lookup.ts";
import type { Quota } from "../../declare/caller.ts";
import { finishSignIn } from "./finish-sign-in.ts";
import { type PageContext, type PageRequest, tooManyAttemptsMessage } from "./page-request.ts";
import type { PendingAuthorization } from "./pending-authorization.ts";
import { showSignIn } from "./sign-in.ts";
import { parsePresented, verifyAuthentication } from "./webauthn.ts";

const attemptQuota: Quota = { limit: 100, windowSeconds: 600 };

const wrongPasskey = "You could not be signed in with this passkey. Try again, or use your password.";

export async function signInWithPasskey(
  context: PageContext,
  pageRequest: PageRequest,
  pending: PendingAuthorization,
): Promise<void> {
  const { bruteForce } = context;
  const { response, address } = pageRequest;
  const showForm = (status: number, error: string): void =>
    showSignIn(context, pageRequest, pending, status, { error });
  const seconds = await bruteForce.secondsToWaitAt("passkey", address, attemptQuota);
  if (seconds > 0) {
    response.setHeader("Retry-After", String(seconds));
    return showForm(429, tooManyAttemptsMessage(seconds));
  }
  const user = await userOf(context, pageRequest, pending);
  if (!user) return showForm(401, wrongPasskey);
  // RFC 8176: proof of possession of a key, and a test of user presence.
  return finishSignIn(context, pageRequest, pending, { accountId: user.id, amr: ["pop", "user"] });
}

/** The owner of the passkey that signed this page's challenge; undefined unless it is a user of the client's tenant. */
async function userOf(
  { passkeys, challenges, users, issuer }: PageContext,
  { form }: PageRequest,
  { interaction, client }: PendingAuthorization,
): Promise<User | undefined> {
  const { rpId } = issuer;
  const presented = parsePresented(form?.get("credential") ?? null);
  if (!presented || rpId === undefined) return undefined;
  const challenge = await challenges.redeem(interaction.jti, form?.get("challenge_token") ?? "");
  const passkey = challenge === undefined ? undefined : await passkeys.find(presented.id);
  if (challenge === undefined || !passkey) return undefined;
  const counter = await verifyAuthentication(issuer, rpId, challenge, presented, passkey);
  if (counter === undefined) return undefined;
  const user = await users.find(passkey.userId);
  const handle = presented.response["userHandle"];
  const isOwner = handle === Buffer.from(passkey.userId).toString("base64url");
  if (!isOwner || user?.tenantId !== client.tenantId) return undefined;
  return (await passkeys.use(passkey.credentialId, counter)) ? user : undefined;
}
