// The configuration of oidc-provider, and its callbacks that decide about a request.

import type { Configuration } from "oidc-provider";
import { openIdScopes } from "../../auth/clients/rules.ts";
import type { SigningKey } from "../../auth/tokens/signing-keys.ts";
import type { User } from "../../auth/users/lookup.ts";
import { sessionSeconds } from "../../auth/users/sign-in-sessions.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import { deriveSecrets, type Issuer } from "../endpoints/issuer.ts";
import { deviceFlow } from "../interaction/device-flow.ts";
import { endSessionPage, errorPage, signedOutPage } from "../pages/plain-pages.ts";
import { type ProviderStorage, RecordAdapter } from "./adapter.ts";
import { extraMetadata } from "./client-metadata.ts";
import { existingGrant, signInPolicy } from "./consent-policy.ts";
import { anonymousSessionSeconds, cookieNames, sessionCookie } from "./cookies.ts";
import type { RemoteKeySets } from "./key-sets.ts";
import type { Library } from "./library.ts";
import { setPage } from "./page-response.ts";
import { routes } from "./routes.ts";
import { allowedScopes } from "./scopes.ts";
import { scopesAtIssue } from "./scopes-of-role.ts";

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
  // The maximum lifetime of a family of refresh tokens: refreshing does not extend it.
  Grant: 365 * day,
  IdToken: 600,
  Interaction: 1_800,
  RefreshToken: 30 * day,
  Session: (_context: unknown, session: { readonly accountId?: string | undefined }) =>
    session.accountId === undefined ? anonymousSessionSeconds : sessionSeconds,
};

/** Seconds of clock skew between Portico and its clients. */
const clockTolerance = 30;
const maxAssertionSeconds = 3_600;

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
    extraClientMetadata: { properties: extraMetadata },
    ttl: lifetimes,
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: {
        enabled: true,
        allowedPolicy: async (_context, client, token) => mayIntrospect(client, token),
      },
      revocation: {
        enabled: true,
        allowedPolicy: async (_context, client, token) => {
          if (token.clientId === client.clientId) return true;
          if (client.clientAuthMethod === "none") return false;
          throw new errors.InvalidRequest("client is not authorized to revoke the presented token");
        },
      },
      deviceFlow: deviceFlow(issuer, storage.bruteForce),
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: async (context, form) => setPage(context, endSessionPage(issuer, form)),
        postLogoutSuccessSource: async (context) => setPage(context, signedOutPage(issuer)),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => issuer.resource,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (context, resource, client) => {
          if (resource !== issuer.resource && resource !== `${issuer.resource}/`)
            throw new errors.InvalidTarget();
          const allowed = allowedScopes(context, client, issuer, errors);
          return {
            scope: (await scopesAtIssue(context, issuer, users, allowed)).join(" "),
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
      long: sessionCookie(issuer.issuer),
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
    loadExistingGrant: (context) => existingGrant(context, issuer, users),
    renderError: async (context, out) => setPage(context, errorPage(issuer, { ...out })),
  };
}

/** Why the claims of a client assertion are refused (RFC 7523, section 3); its signature was verified before. */
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

/** Resource servers may introspect all tokens of their tenant, other clients their own. */
function mayIntrospect(client: Readonly<Record<string, unknown>>, token: object): boolean {
  const { clientId, extra } = token as { clientId?: string; extra?: Readonly<Record<string, unknown>> };
  if (clientId === client["clientId"]) return true;
  return client["may_introspect"] === true && extra?.["tenant_id"] === client["tenant_id"];
}
