// What happens between a request for authorization and its answer: a person signs in and says what they allow.

import type { IncomingMessage, ServerResponse } from "node:http";
import type Provider from "oidc-provider";
import type { OAuthClient, OAuthClientLookup } from "../identity/oauth-client-lookup.ts";
import type { People } from "../identity/person.ts";
import { Hmac } from "../plan/hmac.ts";
import { isSameText } from "../plan/same-text.ts";
import type { Guesses } from "./guesses.ts";
import { consentPage } from "./pages/consent-page.ts";
import { pageHeaders } from "./pages/layout.ts";
import { signInPage } from "./pages/sign-in-page.ts";
import type { Site } from "./site.ts";

export interface InteractionParts {
  readonly provider: Provider;
  readonly clients: OAuthClientLookup;
  readonly people: People;
  readonly guesses: Guesses;
  readonly site: Site;
  readonly csrfKey: string;
}

/** A request and where its answer goes. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The fields of a form; undefined where the page is only looked at. */
  readonly form: URLSearchParams | undefined;
  readonly address: string;
}

type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

const wrongSignIn = "The email address or the password is wrong.";

export async function interact(parts: InteractionParts, exchange: Exchange): Promise<void> {
  const { provider, clients } = parts;
  const { request, response, form } = exchange;
  const interaction = await provider.interactionDetails(request, response);
  const client = await clients.find(String(interaction.params["client_id"]));
  if (!client) throw new Error("the client of an interaction is gone");
  const csrf = new Hmac(parts.csrfKey).sign(interaction.jti);
  if (form && (!isSameText(csrf, form.get("csrf") ?? "") || isFromElsewhere(request))) {
    response.statusCode = 403;
    return show(exchange, interaction, await pageOf(parts, interaction, client, csrf));
  }
  if (form?.get("choice") === "cancel") {
    const denied = { error: "access_denied", error_description: "the person has declined" };
    return provider.interactionFinished(request, response, denied, { mergeWithLastSubmission: false });
  }
  if (interaction.prompt.name === "login") return signIn(parts, exchange, interaction, client, csrf);
  return consent(parts, exchange, interaction, client, csrf);
}

/** Browsers say of a form where it was sent from (Fetch Metadata). */
function isFromElsewhere({ headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  return site !== undefined && site !== "same-origin" && site !== "none";
}

async function signIn(
  { provider, people, guesses, site }: InteractionParts,
  exchange: Exchange,
  interaction: Interaction,
  client: OAuthClient,
  csrf: string,
): Promise<void> {
  const { request, response, form } = exchange;
  const hint = interaction.params["login_hint"];
  const email = form?.get("email") ?? (typeof hint === "string" ? hint : "");
  const shown = { clientName: client.name, csrf, email };
  if (!form) return show(exchange, interaction, signInPage(site, shown));
  const tried = { tenantId: client.tenantId, email, address: exchange.address };
  const seconds = await guesses.secondsToWait(tried);
  if (seconds > 0) {
    response.statusCode = 429;
    response.setHeader("Retry-After", String(seconds));
    return show(exchange, interaction, signInPage(site, { ...shown, fault: tooManyTries(seconds) }));
  }
  const person = await people.signedIn(client.tenantId, email, form.get("password") ?? "");
  if (!person) {
    response.statusCode = 401;
    return show(exchange, interaction, signInPage(site, { ...shown, fault: wrongSignIn }));
  }
  await guesses.forgive(tried);
  const login = { accountId: person.id, amr: ["pwd"] };
  return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
}

export function tooManyTries(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return `Too many tries. Wait ${minutes === 1 ? "a minute" : `${minutes} minutes`}, then try again.`;
}

async function consent(
  parts: InteractionParts,
  exchange: Exchange,
  interaction: Interaction,
  client: OAuthClient,
  csrf: string,
): Promise<void> {
  const { provider } = parts;
  const { request, response, form } = exchange;
  const isAllowed = form?.get("choice") === "allow" || !client.requiresConsent;
  if (!isAllowed) return show(exchange, interaction, await pageOf(parts, interaction, client, csrf));
  const grantId = await grant(provider, interaction, client);
  return provider.interactionFinished(
    request,
    response,
    { consent: { grantId } },
    { mergeWithLastSubmission: true },
  );
}

async function pageOf(
  { site, people }: InteractionParts,
  interaction: Interaction,
  client: OAuthClient,
  csrf: string,
): Promise<string> {
  if (interaction.prompt.name === "login")
    return signInPage(site, { clientName: client.name, csrf, email: "" });
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

function scopesOf({ params }: Interaction): readonly string[] {
  return String(params["scope"] ?? "")
    .split(" ")
    .filter((scope) => scope !== "");
}

/** Keeps what a person allows: of OpenID Connect and of the API, which are one list to them. */
async function grant(
  provider: Provider,
  interaction: Interaction,
  { clientId }: OAuthClient,
): Promise<string> {
  const { grantId, session, prompt } = interaction;
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

function show({ response }: Exchange, { params }: Interaction, text: string): void {
  const redirectUri = params["redirect_uri"];
  const target = typeof redirectUri === "string" ? new URL(redirectUri).origin : undefined;
  for (const [name, value] of Object.entries(pageHeaders(target))) response.setHeader(name, value);
  response.setHeader("Content-Type", "text/html; charset=utf-8");
  response.end(text);
}
