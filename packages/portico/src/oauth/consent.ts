// A person says what an application may do in their name, and that is kept as a grant.

import type { Exchange, PageParts } from "./exchange.ts";
import { consentPage } from "./pages/consent-page.ts";
import { showWaiting, type Waiting } from "./waiting.ts";

export async function consent(parts: PageParts, exchange: Exchange, waiting: Waiting): Promise<void> {
  const { provider } = parts;
  const { request, response, form } = exchange;
  const isAllowed = form?.get("choice") === "allow" || !waiting.client.requiresConsent;
  if (!isAllowed) return showWaiting(parts, exchange, waiting, 200, await consentPageOf(parts, waiting));
  const result = { consent: { grantId: await grant(parts, waiting) } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

export async function consentPageOf(
  { site, people }: PageParts,
  { interaction, client, csrf }: Waiting,
): Promise<string> {
  const person = await people.find(interaction.session?.accountId ?? "");
  const redirectUri = interaction.params["redirect_uri"];
  return consentPage(site, {
    clientName: client.name,
    maker: client.tenantName,
    email: person?.email ?? "",
    scopes: scopesOf(interaction),
    csrf,
    returnsTo: typeof redirectUri === "string" ? new URL(redirectUri).host : undefined,
  });
}

function scopesOf({ params }: Waiting["interaction"]): readonly string[] {
  return String(params["scope"] ?? "")
    .split(" ")
    .filter((scope) => scope !== "");
}

/** Keeps what a person allows: of OpenID Connect and of the API, which are one list to them. */
async function grant({ provider }: PageParts, { interaction, client }: Waiting): Promise<string> {
  const { grantId, session, prompt } = interaction;
  const { clientId } = client;
  const found = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const given = found ?? new provider.Grant({ accountId: session!.accountId, clientId });
  given.addOIDCScope(scopesOf(interaction).join(" "));
  const missing = (prompt.details["missingResourceScopes"] ?? {}) as Readonly<
    Record<string, readonly string[]>
  >;
  for (const [resource, scopes] of Object.entries(missing))
    given.addResourceScope(resource, scopes.join(" "));
  return given.save();
}
