// oidc-provider set up as Portico needs it: what it leaves open, and what it would do otherwise by itself.

import type { EventEmitter } from "node:events";
import type Provider from "oidc-provider";
import type { Configuration, Grant, KoaContextWithOIDC } from "oidc-provider";
import { type ClientSecret, isSecretOf } from "../identity/oauth-client-lookup.ts";
import { openIdScopes } from "../identity/oauth-client-rules.ts";
import { epochSeconds } from "../identity/oauth-records.ts";
import type { People, Person } from "../identity/person.ts";
import { sessionSeconds } from "../identity/sign-in-sessions.ts";
import type { SigningKey } from "../identity/signing-keys.ts";
import { type Memory, ownMetadata, RecordAdapter, responseModes } from "./adapter.ts";
import { mendClientErrors } from "./client-errors.ts";
import { deviceFlow, pollInterval } from "./device-flow.ts";
import type { KeySets } from "./key-sets.ts";
import type { Library } from "./library.ts";
import { endSessionPage, errorPage, signedOutPage } from "./pages/plain-pages.ts";
import { derived, type Site } from "./site.ts";

export interface ProviderParts {
  readonly library: Library;
  readonly memory: Memory;
  readonly people: People;
  readonly site: Site;
  readonly keys: readonly SigningKey[];
  readonly secrets: readonly string[];
  readonly keySets: KeySets;
  readonly logError: (error: unknown) => void;
}

const day = 86_400;
const lifetimes = {
  AccessToken: 600,
  AuthorizationCode: 60,
  ClientCredentials: 600,
  DeviceCode: 600,
  // The longest that a family of refresh tokens may live.
  Grant: 365 * day,
  IdToken: 600,
  Interaction: 1_800,
  RefreshToken: 30 * day,
  Session: (_context: unknown, session: { readonly accountId?: string | undefined }) =>
    session.accountId === undefined ? unusedSessionSeconds : sessionSeconds,
};
/** A session in which nobody signed in keeps what a form needs, as long as a request for authorization waits. */
const unusedSessionSeconds = 1_800;

/** Seconds by which clocks may differ. */
const clockTolerance = 30;
const longestAssertion = 3_600;

const cookieNames = {
  session: "portico_session",
  interaction: "portico_interaction",
  resume: "portico_resume",
};

/** Sent to the authorization server only. */
function longCookie(issuer: string) {
  return { httpOnly: true, sameSite: "lax", signed: true, path: new URL(issuer).pathname } as const;
}

export const routes = {
  authorization: "/authorize",
  token: "/token",
  introspection: "/introspect",
  revocation: "/revoke",
  userinfo: "/userinfo",
  jwks: "/jwks",
  end_session: "/logout",
  device_authorization: "/device_authorization",
  code_verification: "/device",
  pushed_authorization_request: "/par",
} as const;

export function buildProvider(parts: ProviderParts): Provider {
  const { library, site, memory, logError } = parts;
  const provider = new library.Provider(site.issuer, configuration(parts));
  // The forwarding headers are our own: see mounted-request.ts.
  provider.proxy = true;
  provider.use(completeAnswers);
  mendClientErrors(provider, memory.guesses);
  provider.use((context, next) =>
    context.path === routes.end_session ? showSignedOut(provider, site, context, next) : next(),
  );
  keepNewSessions(provider, library);
  const { Client } = provider as unknown as { Client: { prototype: SecretHolder } };
  Client.prototype.compareClientSecret = function (this: SecretHolder, presented: string) {
    return isSecretOf(this.secrets, presented);
  };
  provider.on("device_authorization.success", (_context, body) =>
    Object.assign(body, { interval: pollInterval }),
  );
  provider.on("server_error", (_context: unknown, error: unknown) => logError(error));
  // Koa's own, which the types of the library leave out.
  (provider as EventEmitter).on("error", logError);
  return provider;
}

/** A client that acts for itself is the subject of its token (RFC 9068, section 2.2), which the library leaves out. */
function nameSubject(body: unknown): void {
  if (typeof body !== "object" || body === null || !("active" in body) || !body.active) return;
  if (!("sub" in body) && "client_id" in body) Object.assign(body, { sub: body.client_id });
}

/** The library tells of every mode that it knows, and of no subject of its own. */
async function completeAnswers(
  { path, response }: Pick<KoaContextWithOIDC, "path" | "response">,
  next: () => Promise<void>,
): Promise<void> {
  await next();
  if (path.startsWith("/.well-known/") && response.status === 200)
    Object.assign(response.body as object, { response_modes_supported: responseModes });
  if (path === routes.introspection) nameSubject(response.body);
}

/** To who is not signed in the library shows a form that a script sends on, and keeps a session for it. */
async function showSignedOut(
  provider: Provider,
  site: Site,
  context: Pick<KoaContextWithOIDC, "req" | "res" | "type" | "body">,
  next: () => Promise<void>,
): Promise<void> {
  const { req, res } = context;
  // The library's types do not know that it takes any context of its own.
  const session = await provider.Session.get(provider.createContext(req, res) as never);
  if (session.accountId !== undefined) return next();
  show(context, signedOutPage(site));
}

/**
 * A fault on the pages for devices gives a session its first state after the session was looked at, and the library
 * then fails to keep it; the form of that page would be refused as well.
 */
function keepNewSessions(provider: Provider, library: Library): void {
  const session = provider.Session.prototype as unknown as StoredSession;
  const { persist } = session;
  session.persist = async function (this: StoredSession) {
    if (typeof this.exp === "number") return persist.call(this);
    library.Provider.ctx?.oidc.cookies.set(cookieNames.session, this.id, longCookie(provider.issuer));
    return this.save(unusedSessionSeconds);
  };
}

interface StoredSession {
  readonly id: string;
  readonly exp?: number;
  persist(): Promise<unknown>;
  save(seconds: number): Promise<unknown>;
}

interface SecretHolder {
  readonly secrets: readonly ClientSecret[];
  compareClientSecret(presented: string): boolean;
}

function configuration({
  library,
  memory,
  people,
  site,
  keys,
  secrets,
  keySets,
}: ProviderParts): Configuration {
  const { errors } = library;
  return {
    adapter: (model: string) => new RecordAdapter(model, memory, library),
    jwks: { keys: keys.map(({ jwk, kid }) => ({ ...jwk, kid, alg: "ES256", use: "sig" })) as never },
    routes,
    scopes: [...openIdScopes, ...site.scopes],
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
    conformIdTokenClaims: false,
    responseTypes: ["code"],
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    rotateRefreshToken: true,
    clockTolerance,
    fetch: (address) => keySets.fetch(String(address)),
    clientDefaults: { id_token_signed_response_alg: "ES256", response_types: ["code"] },
    clientAuthMethods: ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"],
    enabledJWA: {
      clientAuthSigningAlgValues: ["ES256", "RS256", "PS256", "Ed25519", "EdDSA"],
      idTokenSigningAlgValues: ["ES256"],
    },
    extraClientMetadata: { properties: ownMetadata },
    ttl: lifetimes,
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: {
        enabled: true,
        allowedPolicy: async (_context, client, token) => mayLookAt(client, token),
      },
      revocation: { enabled: true },
      deviceFlow: deviceFlow(site),
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: async (context, form) => show(context, endSessionPage(site, form)),
        postLogoutSuccessSource: async (context) => show(context, signedOutPage(site)),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => site.resource,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (context, resource, client) => {
          if (resource !== site.resource && resource !== `${site.resource}/`)
            throw new errors.InvalidTarget();
          return {
            scope: scopesFor(context, client, site, errors).join(" "),
            audience: site.resource,
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "ES256" } },
          };
        },
      },
    },
    extraTokenClaims: async (context, token) => ({
      tenant_id: context.oidc.client?.["tenant_id"],
      ...("grantId" in token && token.grantId !== undefined && { grant_id: token.grantId }),
    }),
    assertJwtClientAuthClaimsAndHeader: async (_context, claims) => {
      const fault = assertionFault(claims, site.issuer);
      if (fault !== undefined) throw new errors.InvalidClientAuth(fault);
    },
    clientBasedCORS: (_context, origin, client) =>
      client.clientAuthMethod === "none" &&
      (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin),
    cookies: {
      keys: derived(secrets, "cookies"),
      names: cookieNames,
      long: longCookie(site.issuer),
      short: { httpOnly: true, sameSite: "lax", signed: true },
    },
    interactions: {
      policy: signInPolicy(library, people),
      url: (_context, interaction) => `${site.path}/interaction/${interaction.uid}`,
    },
    findAccount: async (context, id) => {
      const person = await people.find(id);
      const tenantId = context.oidc.client?.["tenant_id"];
      return person && (tenantId === undefined || tenantId === person.tenantId)
        ? accountOf(person)
        : undefined;
    },
    loadExistingGrant: (context) => grantFor(context, library),
    renderError: async (context, out) => show(context, errorPage(site, { ...out })),
  };
}

/** What is wrong with an assertion whose signature is good. One that is used is remembered until it expires. */
function assertionFault({ aud, iat, exp }: Claims, issuer: string): string | undefined {
  const now = epochSeconds() + clockTolerance;
  if (aud !== issuer) return "the audience of the client assertion must be the issuer";
  if (iat !== undefined && !(Number(iat) <= now)) return "the client assertion is from the future";
  return Number(exp) <= now + longestAssertion ? undefined : "the client assertion expires too late";
}

type Claims = Readonly<Record<string, unknown>>;

function accountOf({ id, name, email, isEmailVerified }: Person) {
  const claims = { sub: id, name, email, email_verified: isEmailVerified };
  return { accountId: id, claims: async () => claims };
}

function show(context: Pick<KoaContextWithOIDC, "type" | "body">, page: string): void {
  context.type = "html";
  context.body = page;
}

/** A resource server looks at all tokens of its tenant, every other client at its own. */
function mayLookAt(client: Readonly<Record<string, unknown>>, token: object): boolean {
  const { clientId, extra } = token as { clientId?: string; extra?: Readonly<Record<string, unknown>> };
  if (clientId === client["clientId"]) return true;
  return client["may_introspect"] === true && extra?.["tenant_id"] === client["tenant_id"];
}

/** What the API can be asked for in this request. @throws InvalidScope for what nobody has ever heard of */
function scopesFor(
  context: KoaContextWithOIDC,
  client: Readonly<{ scope?: string }>,
  site: Site,
  errors: Library["errors"],
): readonly string[] {
  const { params } = context.oidc;
  const asked = typeof params?.["scope"] === "string" ? params["scope"].split(" ") : [];
  const every = [...openIdScopes, ...site.scopes];
  const unknown = asked.find((scope) => scope !== "" && !every.includes(scope));
  if (unknown !== undefined) throw new errors.InvalidScope("requested scope is not known", unknown);
  // A scope that was taken from the client since is not refreshed.
  const its = new Set(client.scope?.split(" "));
  if (params?.["grant_type"] !== "client_credentials") return every.filter((scope) => its.has(scope));
  // An application that acts for itself is nobody whom OpenID Connect could tell of.
  const ofApi = site.scopes.filter((scope) => its.has(scope));
  // All that it may, where it asks for nothing (RFC 6749, section 3.3).
  if (asked.length === 0) Object.assign(params, { scope: ofApi.join(" ") });
  return ofApi;
}

/** A session of somebody who is unknown to the tenant of the client is none: they sign in there. */
function signInPolicy({ interactionPolicy }: Library, people: People) {
  const policy = interactionPolicy.base();
  const { Check } = interactionPolicy;
  policy.get("login")?.checks.add(
    new Check("other_tenant", "End-User authentication is required", "login_required", async ({ oidc }) => {
      const { session, client } = oidc;
      if (!session?.accountId || !client) return Check.NO_NEED_TO_PROMPT;
      const person = await people.find(session.accountId);
      return person?.tenantId === client["tenant_id"] ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
    }),
  );
  return policy;
}

/** What the person has granted to the client; applications of one's own are not asked for. */
async function grantFor({ oidc }: KoaContextWithOIDC, _library: Library): Promise<Grant | undefined> {
  const { client, session, provider } = oidc;
  const grantId = oidc.result?.consent?.grantId ?? session?.grantIdFor(client!.clientId);
  const found = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  if (client!["requires_consent"] !== false || !session?.accountId) return found;
  const grant = found ?? new provider.Grant({ accountId: session.accountId, clientId: client!.clientId });
  grant.addOIDCScope([...oidc.requestParamScopes].join(" "));
  for (const resource of Object.keys(oidc.resourceServers ?? {}))
    grant.addResourceScope(resource, [...oidc.requestParamScopes].join(" "));
  await grant.save();
  return grant;
}
