// An authorization request that waits for the user, and its pages and forms.

import type Provider from "oidc-provider";
import type { OAuthClient } from "../../auth/clients/lookup.ts";
import { Hmac } from "../../lib/hmac.ts";
import { isCrossSite, type PageContext, type PageRequest, sendPage } from "./page-request.ts";

type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

export interface PendingAuthorization {
  readonly interaction: Interaction;
  readonly client: OAuthClient;
  /** The token in the forms of its pages. */
  readonly csrf: string;
}

const unknownClient = {
  statusCode: 400,
  error: "invalid_request",
  error_description: "This application no longer exists.",
};

export async function pendingAuthorization(
  { provider, clients, csrfKey }: PageContext,
  { request, response }: PageRequest,
): Promise<PendingAuthorization> {
  const interaction = await provider.interactionDetails(request, response);
  const client = await clients.find(String(interaction.params["client_id"]));
  if (!client) throw Object.assign(new Error("the client of an interaction was deleted"), unknownClient);
  return { interaction, client, csrf: new Hmac(csrfKey).sign(interaction.jti) };
}

/** Whether the form was not rendered for this authorization request. */
export function isForged(
  { csrfKey }: PageContext,
  pageRequest: PageRequest,
  { interaction }: PendingAuthorization,
): boolean {
  const presented = pageRequest.form?.get("csrf") ?? null;
  return isCrossSite(pageRequest) || !new Hmac(csrfKey).verify(interaction.jti, presented);
}

/** Sends a page whose form can redirect to the application, with or without the passkey script. */
export function sendInteractionPage(
  { issuer }: PageContext,
  pageRequest: PageRequest,
  { interaction: { params } }: PendingAuthorization,
  status: number,
  page: string,
  hasScript = false,
): void {
  const redirectUri = params["redirect_uri"];
  const schemes = typeof redirectUri === "string" ? [new URL(redirectUri).protocol, "https:"] : [];
  sendPage(issuer, pageRequest, status, page, { formTargets: [...new Set(schemes)], hasScript });
}
