// What oidc-provider is told: every setting, and the questions that it asks about a request.

import type { Configuration, Grant, KoaContextWithOIDC } from "oidc-provider";
import { openIdScopes } from "../../auth/clients/rules.ts";
import type { SigningKey } from "../../auth/tokens/signing-keys.ts";
import type { User, UserLookup } from "../../auth/users/lookup.ts";
import { sessionSeconds } from "../../auth/users/sign-in-sessions.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import { deriveSecrets, type Issuer } from "../endpoints/issuer.ts";
import { deviceFlow } from "../interaction/device-flow.ts";
import { endSessionPage, errorPage, signedOutPage } from "../pages/plain-pages.ts";
import { ownMetadata, type ProviderStorage, RecordAdapter } from "./adapter.ts";
import type { RemoteKeySets } from "./key-sets.ts";
import type { Library } from "./library.ts";

/** What the settings are made of. */
export interface Settings {
  readonly library: Library;
  readonly storage: ProviderStorage;
  readonly issuer: Issuer;
  readonly keys: readonly SigningKey[];
  readonly secrets: readonly string[];
  readonly keySets: RemoteKeySets;
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
export const unusedSessionSeconds = 1_800;

/** Seconds by which clocks may differ. */
const clockTolerance = 30;
const maxAssertionSeconds = 3_600;

export const cookieNames = {
  session: "portico_session",
  interaction: "portico_interaction",
  resume: "portico_resume",
};

/** Sent to the authorization server only. */
export function longCookie(issuer: string) {
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

export function configuration({ library, storage, issuer, keys, secrets, keySets }: Settings): Configuration {
  const { errors } = library;
  const { users } = storage;
  return {
    adapter: (model: string) => new RecordAdapter(model, storage, library),
    jwks: { keys: keys.map(({ jwk, kid }) => ({ ...jwk, kid, alg: "ES256", use: "sig" })) as never },
    routes,
    scopes: [...openIdScopes, ...issuer.scopes],
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
        allowedPolicy: async (_context, client, token) => mayIntrospect(client, token),
      },
      revocation: { enabled: true },
      deviceFlow: deviceFlow(issuer, storage.bruteForce),
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: async (context, form) => showPage(context, endSessionPage(issuer, form)),
        postLogoutSuccessSource: async (context) => showPage(context, signedOutPage(issuer)),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => issuer.resource,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (context, resource, client) => {
          if (resource !== issuer.resource && resource !== `${issuer.resource}/`)
            throw new errors.InvalidTarget();
          return {
            scope: scopesFor(context, client, issuer, errors).join(" "),
            audience: issuer.resource,
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
      const error = assertionError(claims, issuer.issuer);
      if (error !== undefined) throw new errors.InvalidClientAuth(error);
    },
    clientBasedCORS: (_context, origin, client) =>
      client.clientAuthMethod === "none" &&
      (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin),
    cookies: {
      keys: deriveSecrets(secrets, "cookies"),
      names: cookieNames,
      long: longCookie(issuer.issuer),
      short: { httpOnly: true, sameSite: "lax", signed: true },
    },
    interactions: {
      policy: signInPolicy(library, users),
      url: (_context, interaction) => `${issuer.path}/interaction/${interaction.uid}`,
    },
    findAccount: async (context, id) => {
      const user = await users.find(id);
      const tenantId = context.oidc.client?.["tenant_id"];
      return user && (tenantId === undefined || tenantId === user.tenantId) ? accountOf(user) : undefined;
    },
    loadExistingGrant: grantFor,
    renderError: async (context, out) => showPage(context, errorPage(issuer, { ...out })),
  };
}

/** What is wrong with an assertion whose signature is good. One that is used is remembered until it expires. */
function assertionError({ aud, iat, exp }: Claims, issuer: string): string | undefined {
  const now = epochSeconds() + clockTolerance;
  if (aud !== issuer) return "the audience of the client assertion must be the issuer";
  if (iat !== undefined && !(Number(iat) <= now)) return "the client assertion is from the future";
  return Number(exp) <= now + maxAssertionSeconds ? undefined : "the client assertion expires too late";
}

type Claims = Readonly<Record<string, unknown>>;

function accountOf({ id, name, email, isEmailVerified }: User) {
  const claims = { sub: id, name, email, email_verified: isEmailVerified };
  return { accountId: id, claims: async () => claims };
}

export function showPage(context: Pick<KoaContextWithOIDC, "type" | "body">, page: string): void {
  context.type = "html";
  context.body = page;
}

/** A resource server looks at all tokens of its tenant, every other client at its own. */
function mayIntrospect(client: Readonly<Record<string, unknown>>, token: object): boolean {
  const { clientId, extra } = token as { clientId?: string; extra?: Readonly<Record<string, unknown>> };
  if (clientId === client["clientId"]) return true;
  return client["may_introspect"] === true && extra?.["tenant_id"] === client["tenant_id"];
}

/** Where an application says what it asks people for. */
const interactiveRoutes = ["authorization", "device_authorization", "pushed_authorization_request"];

/** What the API can be asked for in this request. @throws InvalidScope for what nobody has ever heard of */
function scopesFor(
  context: KoaContextWithOIDC,
  client: Readonly<{ scope?: string }>,
  issuer: Issuer,
  errors: Library["errors"],
): readonly string[] {
  const { params, route = "" } = context.oidc;
  const requested = typeof params?.["scope"] === "string" ? params["scope"].split(" ") : [];
  // People are not asked for everything that an application may have because it has said nothing.
  if (requested.length === 0 && interactiveRoutes.includes(route))
    throw new errors.InvalidScope("say in scope what the application asks for", "");
  const isKnown = (scope: string): boolean => openIdScopes.includes(scope) || issuer.scopes.includes(scope);
  const unknown = requested.find((scope) => scope !== "" && !isKnown(scope));
  if (unknown !== undefined) throw new errors.InvalidScope("requested scope is not known", unknown);
  if (client.scope === undefined && requested.length > 0)
    throw new errors.InvalidScope("requested scope is not allowed", requested.join(" "));
  // A scope that was taken from the client since is not refreshed.
  const its = new Set(client.scope?.split(" "));
  if (params?.["grant_type"] !== "client_credentials")
    return [...openIdScopes, ...issuer.scopes].filter((scope) => its.has(scope));
  // An application that acts for itself is nobody whom OpenID Connect could tell of.
  const ofApi = issuer.scopes.filter((scope) => its.has(scope));
  // All that it may, where it asks for nothing (RFC 6749, section 3.3).
  if (requested.length === 0) Object.assign(params, { scope: ofApi.join(" ") });
  return ofApi;
}

/** A session of somebody who is unknown to the tenant of the client is none: they sign in there. */
function signInPolicy({ interactionPolicy }: Library, users: UserLookup) {
  const policy = interactionPolicy.base();
  const { Check } = interactionPolicy;
  policy.get("login")?.checks.add(
    new Check("other_tenant", "End-User authentication is required", "login_required", async ({ oidc }) => {
      const { session, client } = oidc;
      if (!session?.accountId || !client) return Check.NO_NEED_TO_PROMPT;
      const user = await users.find(session.accountId);
      return user?.tenantId === client["tenant_id"] ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
    }),
  );
  return policy;
}

/** Stands in a grant that the person was not asked for. */
const consentNotRequested = "urn:portico:unasked";

/** What the person has granted to the client; for applications of one's own they are not asked. */
async function grantFor({ oidc }: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { client, session, provider } = oidc;
  const grantId = oidc.result?.consent?.grantId ?? session?.grantIdFor(client!.clientId);
  const storedGrant = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  if (client!["requires_consent"] !== false)
    return storedGrant?.resources?.[consentNotRequested] ? undefined : storedGrant;
  if (!session?.accountId) return storedGrant;
  const grant =
    storedGrant ?? new provider.Grant({ accountId: session.accountId, clientId: client!.clientId });
  grant.addOIDCScope([...oidc.requestParamScopes].join(" "));
  for (const resource of Object.keys(oidc.resourceServers ?? {}))
    grant.addResourceScope(resource, [...oidc.requestParamScopes].join(" "));
  grant.addResourceScope(consentNotRequested, "yes");
  await grant.save();
  return grant;
}
