// `/passkeys`: a user adds and removes passkeys.

import { maxPasskeys } from "../../auth/users/passkeys.ts";
import {
  type PageContext,
  type PageRequest,
  redirectSeeOther,
  sendPage,
  sendRefusedForm,
} from "../interaction/page-request.ts";
import { creationOptions, parsePresented, verifyRegistration } from "../interaction/webauthn.ts";
import { passkeysPage } from "../pages/passkeys-page.ts";
import { requireSignedIn, type SignedInUser } from "./signed-in.ts";

const maxNameLength = 100;

export async function showPasskeys(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { passkeys, issuer } = context;
  const signedIn = await requireSignedIn(context, pageRequest);
  if (!signedIn) return;
  const { form } = pageRequest;
  if (!form) return showList(context, pageRequest, signedIn, 200);
  const removed = form.get("remove");
  if (removed !== null) {
    if (!(await passkeys.delete(signedIn.user, removed))) return sendRefusedForm(issuer, pageRequest);
    return redirectSeeOther(issuer, pageRequest, "/passkeys");
  }
  if (!(await addPasskey(context, pageRequest, signedIn))) {
    const error = "The passkey could not be added. Try again.";
    return showList(context, pageRequest, signedIn, 422, error);
  }
  redirectSeeOther(issuer, pageRequest, "/passkeys");
}

async function addPasskey(
  { passkeys, challenges, issuer }: PageContext,
  { form, address }: PageRequest,
  { session, user }: SignedInUser,
): Promise<boolean> {
  const { rpId } = issuer;
  const presented = parsePresented(form?.get("credential") ?? null);
  if (!presented || rpId === undefined) return false;
  const challenge = await challenges.redeem(session.uid, form?.get("challenge_token") ?? "");
  const passkey =
    challenge === undefined ? undefined : await verifyRegistration(issuer, rpId, challenge, presented);
  if (!passkey) return false;
  const name = (form?.get("name") ?? "").trim().slice(0, maxNameLength) || "Passkey";
  return passkeys.add(user, { ...passkey, name }, address);
}

async function showList(
  { passkeys, challenges, issuer }: PageContext,
  pageRequest: PageRequest,
  { session, user, csrf }: SignedInUser,
  status: number,
  error?: string,
): Promise<void> {
  const existing = await passkeys.list(user);
  const { rpId } = issuer;
  const canAdd = rpId !== undefined && existing.length < maxPasskeys;
  const { challenge, challengeToken } = challenges.make(session.uid);
  const creation = canAdd
    ? { challengeToken, options: creationOptions(issuer, rpId, challenge, user, existing) }
    : undefined;
  const page = passkeysPage(issuer, user, { csrf, passkeys: existing, creation, error });
  sendPage(issuer, pageRequest, status, page, { hasScript: creation !== undefined });
}
