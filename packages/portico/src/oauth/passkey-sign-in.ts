// A person shows who they are with a passkey, which names them by itself.

import type { Quota } from "../declare/caller.ts";
import type { Person } from "../identity/person.ts";
import { type Exchange, type PageParts, tooManyTries } from "./exchange.ts";
import { finishSignIn } from "./finish-sign-in.ts";
import { showSignIn } from "./sign-in.ts";
import type { Waiting } from "./waiting.ts";
import { presentedOf, used } from "./webauthn.ts";

const ofTries: Quota = { limit: 100, windowSeconds: 600 };

const wrongPasskey = "This passkey did not work here. Try again, or sign in with your password.";

export async function signInWithPasskey(
  parts: PageParts,
  exchange: Exchange,
  waiting: Waiting,
): Promise<void> {
  const { guesses } = parts;
  const { response, address } = exchange;
  const showAgain = (status: number, fault: string): void =>
    showSignIn(parts, exchange, waiting, status, { fault });
  const seconds = await guesses.secondsToWaitAt("passkey", address, ofTries);
  if (seconds > 0) {
    response.setHeader("Retry-After", String(seconds));
    return showAgain(429, tooManyTries(seconds));
  }
  const person = await personOf(parts, exchange, waiting);
  if (!person) return showAgain(401, wrongPasskey);
  // RFC 8176: a key was shown, and the authenticator has seen the person.
  return finishSignIn(parts, exchange, waiting, { accountId: person.id, amr: ["pop", "user"] });
}

/** Whose passkey answers the challenge of this page; undefined where that is nobody of the client's tenant. */
async function personOf(
  { passkeys, challenges, people, site }: PageParts,
  { form }: Exchange,
  { interaction, client }: Waiting,
): Promise<Person | undefined> {
  const { rpId } = site;
  const presented = presentedOf(form?.get("credential") ?? null);
  if (!presented || rpId === undefined) return undefined;
  const challenge = await challenges.redeem(interaction.jti, form?.get("slip") ?? "");
  const passkey = challenge === undefined ? undefined : await passkeys.find(presented.id);
  if (challenge === undefined || !passkey) return undefined;
  const counter = await used(site, rpId, challenge, presented, passkey);
  if (counter === undefined) return undefined;
  const person = await people.find(passkey.userId);
  const handle = presented.response["userHandle"];
  const isTheirs = handle === Buffer.from(passkey.userId).toString("base64url");
  if (!isTheirs || person?.tenantId !== client.tenantId) return undefined;
  return (await passkeys.use(passkey.credentialId, counter)) ? person : undefined;
}
