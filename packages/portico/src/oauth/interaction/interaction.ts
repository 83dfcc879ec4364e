// `/interaction/{uid}`: the user of a pending authorization signs in and consents.

import { consentPageOf, handleConsent } from "./consent.ts";
import type { PageContext, PageRequest } from "./page-request.ts";
import { signInWithPasskey } from "./passkey-sign-in.ts";
import { isForged, pendingAuthorization, sendInteractionPage } from "./pending-authorization.ts";
import { handleSignIn, showSignIn } from "./sign-in.ts";

export async function handleInteraction(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { provider } = context;
  const { request, response, form } = pageRequest;
  const pending = await pendingAuthorization(context, pageRequest);
  const isSignIn = pending.interaction.prompt.name === "login";
  if (form && isForged(context, pageRequest, pending)) {
    if (isSignIn) return showSignIn(context, pageRequest, pending, 403);
    return sendInteractionPage(context, pageRequest, pending, 403, await consentPageOf(context, pending));
  }
  if (form?.get("choice") === "cancel") {
    const denied = { error: "access_denied", error_description: "the user denied the request" };
    return provider.interactionFinished(request, response, denied, { mergeWithLastSubmission: false });
  }
  if (!isSignIn) return handleConsent(context, pageRequest, pending);
  const isPasskey = form?.get("choice") === "passkey";
  return isPasskey
    ? signInWithPasskey(context, pageRequest, pending)
    : handleSignIn(context, pageRequest, pending);
}
