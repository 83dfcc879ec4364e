// A request for authorization that waits for a person, and the pages and forms that belong to it.

import type Provider from "oidc-provider";
import type { OAuthClient } from "../../auth/clients/lookup.ts";
import { Hmac } from "../../lib/hmac.ts";
import { isCrossSite, type PageContext, type PageRequest, sendPage } from "./page-request.ts";

type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

export interface PendingAuthorization {
  readonly interaction: Interaction;
  readonly client: OAuthClient;
  /** What the forms of its pages carry. */
  readonly csrf: string;
}

const unknownClient = {
  statusCode: 400,
  error: "invalid_request",
  error_description: "The application is not known here any more.",
};

export async function pendingAuthorization(
  { provider, clients, csrfKey }: PageContext,
  { request, response }: PageRequest,
): Promise<PendingAuthorization> {
  const interaction = await provider.interactionDetails(request, response);
  const client = await clients.find(String(interaction.params["client_id"]));
  if (!client) throw Object.assign(new Error("the client of an interaction is gone"), unknownClient);
  return { interaction, client, csrf: new Hmac(csrfKey).sign(interaction.jti) };
}

/** Whether a form was not made for this request for authorization. */
export function isForged(
  { csrfKey }: PageContext,
  pageRequest: PageRequest,
  { interaction }: PendingAuthorization,
): boolean {
  const presented = pageRequest.form?.get("csrf") ?? null;
  return isCrossSite(pageRequest) || !new Hmac(csrfKey).verify(interaction.jti, presented);
}

/** Shows a page whose form may lead back to the application, and which may have the script for passkeys. */
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
