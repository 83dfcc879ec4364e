// The sign-in page, and sign-in with email address and password.

import { signInPage } from "../pages/sign-in-page.ts";
import { finishSignIn } from "./finish-sign-in.ts";
import type { PageContext, PageRequest } from "./page-request.ts";
import { attemptPassword, setRetryAfter } from "./password-attempt.ts";
import { type PendingAuthorization, sendInteractionPage } from "./pending-authorization.ts";
import { requestOptions } from "./webauthn.ts";

/** The values of a form that is shown again. */
interface FormState {
  readonly email?: string;
  readonly error?: string;
}

const wrongSignIn = "The email address or the password is wrong.";

export async function handleSignIn(
  context: PageContext,
  pageRequest: PageRequest,
  pending: PendingAuthorization,
): Promise<void> {
  const { form } = pageRequest;
  const { interaction, client } = pending;
  const hint = interaction.params["login_hint"];
  const email = form?.get("email") ?? (typeof hint === "string" ? hint : "");
  const showForm = (status: number, error?: string): void => {
    showSignIn(context, pageRequest, pending, status, { email, ...(error !== undefined && { error }) });
  };
  if (!form) return showForm(200);
  const password = form.get("password") ?? "";
  const { user, seconds } = await attemptPassword(context, pageRequest, {
    tenantId: client.tenantId,
    email,
    password,
  });
  if (seconds > 0) return showForm(429, setRetryAfter(pageRequest, seconds));
  if (!user) return showForm(401, wrongSignIn);
  return finishSignIn(context, pageRequest, pending, { accountId: user.id, amr: ["pwd"] });
}

export function showSignIn(
  context: PageContext,
  pageRequest: PageRequest,
  pending: PendingAuthorization,
  status: number,
  { email = "", error }: FormState = {},
): void {
  const { issuer, challenges, signUps } = context;
  const { interaction, client, csrf } = pending;
  const { rpId } = issuer;
  const { challenge, challengeToken } = challenges.make(interaction.jti);
  const passkey =
    rpId === undefined ? undefined : { challengeToken, options: requestOptions(rpId, challenge) };
  const { uid } = interaction;
  const signUpPath = signUps.role === undefined ? undefined : `/sign-up?client_id=${client.clientId}`;
  const shown = { clientName: client.name, csrf, email, error, interaction: uid, signUpPath, passkey };
  const page = signInPage(issuer, shown);
  sendInteractionPage(context, pageRequest, pending, status, page, passkey !== undefined);
}
