// The consent page, and the grant that stores what the user allows.

import type { User } from "../../auth/users/lookup.ts";
import { consentPage } from "../pages/consent-page.ts";
import { grantableScopes, rejectScopes } from "../provider/scopes-of-role.ts";
import type { PageContext, PageRequest } from "./page-request.ts";
import { type PendingAuthorization, sendInteractionPage } from "./pending-authorization.ts";

export async function handleConsent(
  context: PageContext,
  pageRequest: PageRequest,
  pending: PendingAuthorization,
): Promise<void> {
  const { provider } = context;
  const { request, response, form } = pageRequest;
  const { user, scopes } = await grantable(context, pending);
  const { requiresConsent } = pending.client;
  if (!user || (scopes.length === 0 && requiresConsent)) {
    const denied = { error: "access_denied", error_description: user ? nothingGrantable : unknownUser };
    return provider.interactionFinished(request, response, denied, { mergeWithLastSubmission: false });
  }
  const allowed = requiresConsent ? allowedScopes(form, scopes) : scopes;
  if (allowed === undefined)
    return sendInteractionPage(context, pageRequest, pending, 200, await consentPageOf(context, pending));
  const result = { consent: { grantId: await saveGrant(context, pending, allowed) } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

const nothingGrantable = "the role of the user includes none of the requested scopes";
const unknownUser = "the user was deactivated or deleted";

/**
 * The scopes that the page has shown and that the user may still grant: the role may have changed since then. Undefined
 * unless the user allows some.
 */
function allowedScopes(
  form: URLSearchParams | undefined,
  scopes: readonly string[],
): readonly string[] | undefined {
  if (form?.get("choice") !== "allow") return undefined;
  const shown = form.get("scopes")?.split(" ") ?? [];
  const allowed = scopes.filter((scope) => shown.includes(scope));
  return allowed.length > 0 ? allowed : undefined;
}

export async function consentPageOf(context: PageContext, pending: PendingAuthorization): Promise<string> {
  const { issuer } = context;
  const { interaction, client, csrf } = pending;
  const { user, scopes } = await grantable(context, pending);
  const redirectUri = interaction.params["redirect_uri"];
  return consentPage(issuer, {
    clientName: client.name,
    organization: client.tenantName,
    email: user?.email ?? "",
    scopes,
    csrf,
    redirectHost: typeof redirectUri === "string" ? new URL(redirectUri).host : undefined,
  });
}

/** The signed-in user, and the requested scopes that their role includes. */
async function grantable(
  { issuer, users }: PageContext,
  { interaction }: PendingAuthorization,
): Promise<{ readonly user: User | undefined; readonly scopes: readonly string[] }> {
  const user = await users.find(interaction.session?.accountId ?? "");
  return { user, scopes: grantableScopes(issuer, user?.role, requestedScopes(interaction)) };
}

function requestedScopes({ params }: PendingAuthorization["interaction"]): readonly string[] {
  return String(params["scope"] ?? "")
    .split(" ")
    .filter((scope) => scope !== "");
}

/**
 * Stores the scopes of the page, which are those of OpenID Connect and of the API in one list, and rejects the requested
 * ones that the page does not show.
 * @returns the grant's id
 */
async function saveGrant(
  { provider, issuer }: PageContext,
  { interaction, client }: PendingAuthorization,
  shown: readonly string[],
): Promise<string> {
  const { grantId, session, prompt } = interaction;
  const { clientId } = client;
  const existing = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = existing ?? new provider.Grant({ accountId: session!.accountId, clientId });
  grant.addOIDCScope(shown.join(" "));
  const missing = (prompt.details["missingResourceScopes"] ?? {}) as Readonly<
    Record<string, readonly string[]>
  >;
  for (const [resource, scopes] of Object.entries(missing))
    grant.addResourceScope(resource, scopes.filter((scope) => shown.includes(scope)).join(" "));
  const outsideRole = requestedScopes(interaction).filter((scope) => !shown.includes(scope));
  rejectScopes(grant, issuer, outsideRole);
  return grant.save();
}
