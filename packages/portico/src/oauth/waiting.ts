// A request for authorization that waits for a person, and the pages and forms that belong to it.

import type Provider from "oidc-provider";
import type { OAuthClient } from "../identity/oauth-client-lookup.ts";
import { Hmac } from "../plan/hmac.ts";
import { type Exchange, isFromElsewhere, type PageParts, show } from "./exchange.ts";

type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

export interface Waiting {
  readonly interaction: Interaction;
  readonly client: OAuthClient;
  /** What the forms of its pages carry. */
  readonly csrf: string;
}

const gone = {
  statusCode: 400,
  error: "invalid_request",
  error_description: "The application is not known here any more.",
};

export async function waitingFor(
  { provider, clients, csrfKey }: PageParts,
  { request, response }: Exchange,
): Promise<Waiting> {
  const interaction = await provider.interactionDetails(request, response);
  const client = await clients.find(String(interaction.params["client_id"]));
  if (!client) throw Object.assign(new Error("the client of an interaction is gone"), gone);
  return { interaction, client, csrf: new Hmac(csrfKey).sign(interaction.jti) };
}

/** Whether a form was not made for this request for authorization. */
export function isForged({ csrfKey }: PageParts, exchange: Exchange, { interaction }: Waiting): boolean {
  const given = exchange.form?.get("csrf") ?? null;
  return isFromElsewhere(exchange) || !new Hmac(csrfKey).isCodeOf(interaction.jti, given);
}

/** Shows a page whose form may lead back to the application, and which may have the script for passkeys. */
export function showWaiting(
  { site }: PageParts,
  exchange: Exchange,
  { interaction: { params } }: Waiting,
  status: number,
  page: string,
  hasScript = false,
): void {
  const redirectUri = params["redirect_uri"];
  const schemes = typeof redirectUri === "string" ? [new URL(redirectUri).protocol, "https:"] : [];
  show(site, exchange, status, page, { formTargets: [...new Set(schemes)], hasScript });
}
