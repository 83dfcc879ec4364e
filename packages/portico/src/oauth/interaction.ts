// What happens between a request for authorization and its answer: a person signs in and says what they allow.

import { consent, consentPageOf } from "./consent.ts";
import type { Exchange, PageParts } from "./exchange.ts";
import { signInWithPasskey } from "./passkey-sign-in.ts";
import { showSignIn, signIn } from "./sign-in.ts";
import { isForged, showWaiting, waitingFor } from "./waiting.ts";

export async function interact(parts: PageParts, exchange: Exchange): Promise<void> {
  const { provider } = parts;
  const { request, response, form } = exchange;
  const waiting = await waitingFor(parts, exchange);
  const isSignIn = waiting.interaction.prompt.name === "login";
  if (form && isForged(parts, exchange, waiting)) {
    if (isSignIn) return showSignIn(parts, exchange, waiting, 403);
    return showWaiting(parts, exchange, waiting, 403, await consentPageOf(parts, waiting));
  }
  if (form?.get("choice") === "cancel") {
    const denied = { error: "access_denied", error_description: "the person has declined" };
    return provider.interactionFinished(request, response, denied, { mergeWithLastSubmission: false });
  }
  if (!isSignIn) return consent(parts, exchange, waiting);
  const isPasskey = form?.get("choice") === "passkey";
  return isPasskey ? signInWithPasskey(parts, exchange, waiting) : signIn(parts, exchange, waiting);
}
