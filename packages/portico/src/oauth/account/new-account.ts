// Accounts that people create: by themselves at `/sign-up`, where the app allows it, or invited at `/invitation`. Opening a
// link changes nothing, because mail filters open every link; submitting its form does.

import type { AccountDetails, AccountOutcome } from "../../auth/users/new-account.ts";
import { passwordError } from "../../auth/users/password.ts";
import { Problem } from "../../errors.ts";
import { isEmailAddress } from "../../lib/email-address.ts";
import { html } from "../../lib/html.ts";
import {
  isCrossSite,
  type PageContext,
  type PageRequest,
  sendPage,
  sendRefusedForm,
} from "../interaction/page-request.ts";
import { setRetryAfter } from "../interaction/password-attempt.ts";
import {
  accountCreatedPage,
  type NewAccountForm,
  newAccountPage,
  signUpPage,
  signUpSentPage,
} from "../pages/new-account-pages.ts";
import { errorPage, type Refusal, refusalPage } from "../pages/plain-pages.ts";
import { sendInvalidLink } from "./email-link.ts";

/** `/sign-up?client_id=...` asks for an address, and `/sign-up?token=...`, the link in the email, creates the account. */
export async function showSignUp(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { issuer, signUps } = context;
  if (signUps.role === undefined) return sendPage(issuer, pageRequest, 404, refusalPage(issuer, closed));
  const { form, query } = pageRequest;
  if (form && isCrossSite(pageRequest)) return sendRefusedForm(issuer, pageRequest);
  const token = (form ?? query).get("token");
  if (token === null) return requestLink(context, pageRequest);
  const link = await signUps.find(token);
  const client = link && (await context.clients.find(link.clientId));
  if (!link || client?.tenantId !== link.tenantId) return sendInvalidLink(context, pageRequest);
  return handleNewAccount(
    context,
    pageRequest,
    {
      ...{ path: "/sign-up", title: "Create your account", token, email: link.email },
      introduction: html`<p>for <strong>${client.name}</strong></p>`,
    },
    (details) => signUps.complete(token, details),
  );
}

/** `/invitation?token=...`, the link in the email. */
export async function showInvitation(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { invitationLinks, issuer } = context;
  const { form, query } = pageRequest;
  if (form && isCrossSite(pageRequest)) return sendRefusedForm(issuer, pageRequest);
  const token = (form ?? query).get("token") ?? "";
  const invitation = await invitationLinks.findByToken(token);
  if (!invitation) return sendPage(issuer, pageRequest, 400, refusalPage(issuer, invalidInvitation));
  const { tenantName, email, role, inviterName } = invitation;
  const inviter = inviterName === undefined ? undefined : html` by ${inviterName}`;
  return handleNewAccount(
    context,
    pageRequest,
    {
      ...{ path: "/invitation", title: "Accept your invitation", token, email },
      introduction: html`<p>You are invited${inviter} to join <strong>${tenantName}</strong> with the role ${role}.</p>`,
    },
    (details) => invitationLinks.accept(token, details),
  );
}

/** Requests a link. The response is the same whether or not the account exists. */
async function requestLink(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { issuer, clients, bruteForce, signUps } = context;
  const { form, query, address } = pageRequest;
  const client = await clients.find((form ?? query).get("client_id") ?? "");
  if (!client) return sendPage(issuer, pageRequest, 400, errorPage(issuer, unknownClient));
  const { clientId, name: clientName, tenantId } = client;
  const email = (form?.get("email") ?? "").trim();
  const showForm = (status: number, error?: string): void =>
    sendPage(issuer, pageRequest, status, signUpPage(issuer, { clientId, clientName, email, error }));
  if (!form) return showForm(200);
  if (!isEmailAddress(email)) return showForm(422, "Enter a valid email address.");
  const seconds = await bruteForce.secondsToWaitForEmail({ tenantId, email, address }, "sign_up");
  if (seconds > 0) return showForm(429, setRetryAfter(pageRequest, seconds));
  await signUps.request({ tenantId, clientId, email, address });
  sendPage(issuer, pageRequest, 200, signUpSentPage(issuer, email));
}

/** The page of a valid link, and its form. */
async function handleNewAccount(
  context: PageContext,
  pageRequest: PageRequest,
  shown: Omit<NewAccountForm, "name" | "error">,
  create: (details: AccountDetails) => Promise<AccountOutcome>,
): Promise<void> {
  const { issuer } = context;
  const { form } = pageRequest;
  const name = (form?.get("name") ?? "").trim();
  const showForm = (status: number, error?: string): void =>
    sendPage(issuer, pageRequest, status, newAccountPage(issuer, { ...shown, name, error }));
  if (!form) return showForm(200);
  const password = form.get("password") ?? "";
  const error = passwordError(password);
  if (error !== undefined) return showForm(422, `${error.charAt(0).toUpperCase()}${error.slice(1)}.`);
  const outcome = await outcomeOf(() => create({ name, password }));
  if (outcome === "refused") return showForm(422, "Enter your name, with at most 200 characters.");
  if (outcome === "taken")
    return showForm(
      409,
      "There is an account with this address already. Go back to the application and sign in.",
    );
  if (outcome === "invalid") return sendInvalidLink(context, pageRequest);
  sendPage(issuer, pageRequest, 200, accountCreatedPage(issuer, shown.email));
}

/** @returns `refused` for an invalid name, the only field that is not validated before */
async function outcomeOf(create: () => Promise<AccountOutcome>): Promise<AccountOutcome | "refused"> {
  try {
    return await create();
  } catch (error) {
    if (error instanceof Problem && error.code === "validation_error") return "refused";
    throw error;
  }
}

const closed: Refusal = {
  title: "Accounts cannot be created here",
  text: "Ask somebody who manages the users to invite you.",
};
const unknownClient = {
  error: "invalid_request",
  error_description: "This page needs to know your application. Follow the link on the sign-in page.",
};
const invalidInvitation: Refusal = {
  title: "This invitation cannot be accepted",
  text: "It has expired, was accepted or withdrawn, or the link is incomplete. Ask for a new one.",
};
