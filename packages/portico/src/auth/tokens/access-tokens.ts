// Access tokens of the authorization server at the API (RFC 9068): verified here, without asking anybody else, but for
// whether the token, its grant, its client and its person still stand.

import type { KeyObject } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { Caller, Quota } from "../../declare/caller.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import { defineQuery, type ParametersOf, type Query } from "../../store/own-tables/query.ts";
import type { DatabaseOf } from "../../store/own-tables/table.ts";
import { parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import { oauthClients } from "../clients/resource.ts";
import { invalidCredential } from "../presented-credential.ts";
import { users } from "../users/resource.ts";
import { hashToken } from "./hash-token.ts";
import type { OAuthRecords } from "./oauth-records.ts";
import { oauthRecordsTable } from "./oauth-records-table.ts";
import type { SigningKeyRing } from "./signing-keys.ts";

/** Where callers reach the authorization server and the API: what tokens name as issuer and audience. */
export interface OAuthUrls {
  readonly issuer: string;
  readonly resource: string;
}

/** The claims of an access token that is one. */
export interface AccessClaims {
  readonly jti: string;
  readonly sub: string;
  readonly client_id: string;
  readonly tenant_id: string;
  /** What a person has granted; none where the client acts for itself. */
  readonly grant_id?: string;
  readonly scope?: string;
  readonly aud: string;
  readonly iat: number;
  readonly exp: number;
}

/** What two clocks may differ by. */
const clockSkewSeconds = 30;
const maxCachedTokens = 10_000;
/** So old may be what is known of a token's standing: a revocation shows within a second. */
const statusTtlMs = 500;
/** Longer than any token that the server issues. */
const maxTokenLength = 8_000;

const revokedModel = "RevokedToken";

interface VerifiedToken {
  readonly claims: AccessClaims;
  /** With the scopes that the token and, by now, its client have. */
  caller: Caller;
  /** The scopes of its client as JSON text, as long as the token stands. */
  status: Promise<string | undefined>;
  /** What `caller` was made from. */
  allowed: string | undefined;
  statusReadAt: number;
}

interface ClientScopes {
  /** As JSON text. */
  readonly scopes: string;
}

const statusTables = [oauthClients, oauthRecordsTable, users] as const;

/** The client of a token that is not revoked. */
function unrevokedClient(
  db: Kysely<DatabaseOf<typeof statusTables>>,
  { client_id, tenant_id }: ParametersOf<AccessClaims>,
) {
  const revocation = parameter(({ jti }: AccessClaims) => hashToken(jti));
  return db
    .selectFrom("oauth_clients as c")
    .select("c.scopes")
    .where("c.client_id", "=", client_id)
    .where("c.tenant_id", "=", tenant_id)
    .where(({ exists, lit, not, selectFrom }) =>
      not(
        exists(
          selectFrom("oauth_records")
            .select(lit(1).as("one"))
            .where("model", "=", sql.lit(revokedModel))
            .where("id", "=", revocation),
        ),
      ),
    );
}

const selectClientStatus = defineQuery(statusTables, (db, claims: ParametersOf<AccessClaims>) =>
  unrevokedClient(db, claims),
);

/** The same for a token of a user, whose grant and account must still exist. */
const selectUserStatus = defineQuery(statusTables, (db, claims: ParametersOf<AccessClaims>) => {
  const grant = parameter((token: AccessClaims) => hashToken(token.grant_id ?? ""));
  return unrevokedClient(db, claims)
    .where(({ exists, lit, selectFrom }) =>
      exists(
        selectFrom("oauth_records")
          .select(lit(1).as("one"))
          .where("model", "=", sql.lit("Grant"))
          .where("id", "=", grant)
          .where("expires_at", ">", parameter(epochSeconds)),
      ),
    )
    .where(({ exists, lit, selectFrom }) =>
      exists(
        selectFrom("users")
          .select(lit(1).as("one"))
          .whereRef("users.tenant_id", "=", "c.tenant_id")
          .where("users.id", "=", claims.sub),
      ),
    );
});

export class AccessTokens {
  readonly #store: Store;
  readonly #records: OAuthRecords;
  readonly #keys: SigningKeyRing;
  readonly #urls: Promise<OAuthUrls>;
  readonly #quota: Quota;
  readonly #verified = new BoundedMap<string, VerifiedToken>(maxCachedTokens);
  readonly #clientStatus: Query<ClientScopes, AccessClaims>;
  readonly #userStatus: Query<ClientScopes, AccessClaims>;

  /**
   * @param urls known once the server listens
   * @param quota of each client, and of each person through a client
   */
  constructor(
    store: Store,
    records: OAuthRecords,
    keys: SigningKeyRing,
    urls: Promise<OAuthUrls>,
    quota: Quota,
  ) {
    this.#store = store;
    this.#records = records;
    this.#keys = keys;
    this.#urls = urls;
    this.#quota = quota;
    this.#clientStatus = selectClientStatus(store);
    this.#userStatus = selectUserStatus(store);
  }

  /** Who sends a request with this token. @throws Problem `invalid_credential` */
  async caller(token: string): Promise<Caller> {
    const verified = await this.#current(token);
    if (!verified) throw invalidCredential();
    const allowed = await verified.status;
    if (verified.allowed !== allowed) {
      verified.allowed = allowed;
      verified.caller = { ...verified.caller, scopes: commonScopes(verified.claims, allowed) };
    }
    return verified.caller;
  }

  /** Whether a token says that it is one of ours; whether that is so is another question. */
  async isOfIssuer(token: string): Promise<boolean> {
    const { issuer } = await this.#urls;
    return parseJson(token.slice(0, maxTokenLength).split(".")[1] ?? "")?.["iss"] === issuer;
  }

  /** The claims of a token that is valid now, with the scopes that its client still has; undefined for anything else. */
  async claims(token: string): Promise<AccessClaims | undefined> {
    const verified = await this.#current(token, 0);
    if (!verified) return undefined;
    const scopes = commonScopes(verified.claims, await verified.status);
    return { ...verified.claims, scope: [...scopes].join(" ") };
  }

  /** Ends a token before its time. */
  async revoke({ jti, exp }: AccessClaims): Promise<void> {
    const expiresAt = exp + clockSkewSeconds;
    await this.#records.put({ model: revokedModel, value: jti, payload: "{}", expiresAt });
  }

  async #current(token: string, maxAgeMs: number = statusTtlMs): Promise<VerifiedToken | undefined> {
    const verified = await this.#verify(token);
    if (!verified || verified.claims.exp + clockSkewSeconds <= Date.now() / 1000) return undefined;
    const now = performance.now();
    if (now - verified.statusReadAt >= maxAgeMs) {
      verified.statusReadAt = now;
      verified.status = this.#allowed(verified.claims);
      // A database that does not answer is asked again by the next request.
      verified.status.catch(() => {
        verified.statusReadAt = -statusTtlMs;
      });
    }
    return (await verified.status) === undefined ? undefined : verified;
  }

  async #allowed(claims: AccessClaims): Promise<string | undefined> {
    const statement = claims.sub === claims.client_id ? this.#clientStatus : this.#userStatus;
    return (await statement.first(this.#store.database, claims))?.scopes;
  }

  async #verify(token: string): Promise<VerifiedToken | undefined> {
    if (token.length > maxTokenLength) return undefined;
    const key = hashToken(token);
    const cached = this.#verified.get(key);
    if (cached) return cached;
    const claims = await this.#claimsOf(token);
    if (!claims) return undefined;
    const { tenant_id: tenantId, client_id: clientId, sub } = claims;
    const isUser = sub !== clientId;
    const caller: Caller = {
      tenantId,
      userId: isUser ? sub : undefined,
      isDelegated: isUser,
      credentialId: isUser ? `${clientId}/${sub}` : clientId,
      scopes: commonScopes(claims, undefined),
      quota: this.#quota,
    };
    const status = Promise.resolve(undefined);
    const verified: VerifiedToken = {
      claims,
      caller,
      status,
      allowed: undefined,
      statusReadAt: -statusTtlMs,
    };
    this.#verified.set(key, verified);
    return verified;
  }

  /** RFC 9068, section 4: type, signature, issuer, audience, times. */
  async #claimsOf(token: string): Promise<AccessClaims | undefined> {
    // Decoders accept several texts for the same signature. Only the canonical one is a token.
    const signature = token.slice(token.lastIndexOf(".") + 1);
    if (Buffer.from(signature, "base64url").toString("base64url") !== signature) return undefined;
    const claims = await this.#verifiedPayload(token);
    if (!isAccessClaims(claims)) return undefined;
    return claims.iat <= Date.now() / 1000 + clockSkewSeconds ? claims : undefined;
  }

  async #verifiedPayload(token: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    // Loaded with the first token, because many servers never see one.
    const { errors, jwtVerify } = await import("jose");
    const { issuer, resource } = await this.#urls;
    const key = async ({ kid }: { readonly kid?: unknown }): Promise<KeyObject> => {
      const publicKey = typeof kid === "string" ? await this.#keys.publicKey(kid) : undefined;
      if (!publicKey) throw new errors.JWKSNoMatchingKey();
      return publicKey;
    };
    const clockTolerance = clockSkewSeconds;
    const expected = { algorithms: ["ES256"], typ: "at+jwt", issuer, audience: resource, clockTolerance };
    try {
      return (await jwtVerify(token, key, expected)).payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }
}

function isAccessClaims(
  claims: Readonly<Record<string, unknown>> | undefined,
): claims is Readonly<Record<string, unknown>> & AccessClaims {
  if (!claims) return false;
  const texts = ["iss", "sub", "jti", "client_id", "tenant_id", "aud"].map((name) => claims[name]);
  const optional = ["grant_id", "scope"].map((name) => claims[name]);
  return (
    texts.every((each) => typeof each === "string") &&
    optional.every((each) => each === undefined || typeof each === "string") &&
    [claims["iat"], claims["exp"]].every(Number.isFinite)
  );
}

/** @param allowed the scopes of the client, as JSON text */
function commonScopes({ scope = "" }: AccessClaims, allowed: string | undefined): ReadonlySet<string> {
  const known = new Set<string>(allowed === undefined ? [] : JSON.parse(allowed));
  return new Set(scope.split(" ").filter((each) => known.has(each)));
}

function parseJson(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
