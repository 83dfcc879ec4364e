// The consent page, and the grant that stores what the user allows.

import { consentPage } from "../pages/consent-page.ts";
import type { PageContext, PageRequest } from "./page-request.ts";
import { type PendingAuthorization, sendInteractionPage } from "./pending-authorization.ts";

export async function handleConsent(
  context: PageContext,
  pageRequest: PageRequest,
  pending: PendingAuthorization,
): Promise<void> {
  const { provider } = context;
  const { request, response, form } = pageRequest;
  const isAllowed = form?.get("choice") === "allow" || !pending.client.requiresConsent;
  if (!isAllowed)
    return sendInteractionPage(context, pageRequest, pending, 200, await consentPageOf(context, pending));
  const result = { consent: { grantId: await saveGrant(context, pending) } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

export async function consentPageOf(
  { issuer, users }: PageContext,
  { interaction, client, csrf }: PendingAuthorization,
): Promise<string> {
  const user = await users.find(interaction.session?.accountId ?? "");
  const redirectUri = interaction.params["redirect_uri"];
  return consentPage(issuer, {
    clientName: client.name,
    organization: client.tenantName,
    email: user?.email ?? "",
    scopes: requestedScopes(interaction),
    csrf,
    redirectHost: typeof redirectUri === "string" ? new URL(redirectUri).host : undefined,
  });
}

function requestedScopes({ params }: PendingAuthorization["interaction"]): readonly string[] {
  return String(params["scope"] ?? "")
    .split(" ")
    .filter((scope) => scope !== "");
}

/** Stores the scopes of the page, which are those of OpenID Connect and of the API in one list. @returns the grant's id */
async function saveGrant(
  { provider }: PageContext,
  { interaction, client }: PendingAuthorization,
): Promise<string> {
  const { grantId, session, prompt } = interaction;
  const { clientId } = client;
  const existing = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = existing ?? new provider.Grant({ accountId: session!.accountId, clientId });
  grant.addOIDCScope(requestedScopes(interaction).join(" "));
  const missing = (prompt.details["missingResourceScopes"] ?? {}) as Readonly<
    Record<string, readonly string[]>
  >;
  for (const [resource, scopes] of Object.entries(missing))
    grant.addResourceScope(resource, scopes.join(" "));
  return grant.save();
}
