// A person says what an application may do in their name, and that is kept as a grant.

import { consentPage } from "../pages/consent-page.ts";
import type { PageContext, PageRequest } from "./page-request.ts";
import { type PendingAuthorization, sendInteractionPage } from "./pending-authorization.ts";

export async function handleConsent(
  parts: PageContext,
  pageRequest: PageRequest,
  pending: PendingAuthorization,
): Promise<void> {
  const { provider } = parts;
  const { request, response, form } = pageRequest;
  const isAllowed = form?.get("choice") === "allow" || !pending.client.requiresConsent;
  if (!isAllowed)
    return sendInteractionPage(parts, pageRequest, pending, 200, await consentPageOf(parts, pending));
  const result = { consent: { grantId: await saveGrant(parts, pending) } };
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

/** Keeps what a person allows: of OpenID Connect and of the API, which are one list to them. */
async function saveGrant(
  { provider }: PageContext,
  { interaction, client }: PendingAuthorization,
): Promise<string> {
  const { grantId, session, prompt } = interaction;
  const { clientId } = client;
  const existing = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const granted = existing ?? new provider.Grant({ accountId: session!.accountId, clientId });
  granted.addOIDCScope(requestedScopes(interaction).join(" "));
  const missing = (prompt.details["missingResourceScopes"] ?? {}) as Readonly<
    Record<string, readonly string[]>
  >;
  for (const [resource, scopes] of Object.entries(missing))
    granted.addResourceScope(resource, scopes.join(" "));
  return granted.save();
}
