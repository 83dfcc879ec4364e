// Access tokens of the authorization server at the API (RFC 9068). They are verified locally; the database is asked
// whether the token, its grant, its client and its user still exist, and for the role of the user.

import type { Caller, Quota } from "../../declare/caller.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import type { Model } from "../../model/model.ts";
import type { Store } from "../../store/store.ts";
import { invalidCredential } from "../presented-credential.ts";
import type { RoleScopes } from "../role-scopes.ts";
import { type AccessClaims, clockSkewSeconds, unverifiedClaims, verifiedClaims } from "./access-claims.ts";
import { hashToken } from "./hash-token.ts";
import type { OAuthRecords } from "./oauth-records.ts";
import type { OAuthUrls } from "./oauth-urls.ts";
import type { SigningKeyRing } from "./signing-keys.ts";
import { callerOfToken, commonScopes, tokenScopes, withRights } from "./token-caller.ts";
import { type CurrentRights, revokedModel, TokenStatus } from "./token-status.ts";

const maxCachedTokens = 10_000;
/** How long the status of a token is reused. A revocation or a changed role takes effect within a second. */
const statusTtlMs = 500;
/** Longer than any token that the server issues. */
const maxTokenLength = 8_000;

interface VerifiedToken {
  readonly claims: AccessClaims;
  /** With the scopes that the token, its client and the role of its user have in common. */
  caller: Caller;
  /** Undefined if the token is no longer valid. */
  rights: Promise<CurrentRights | undefined>;
  /** The rights that `caller` was built from. */
  callerRights: CurrentRights | undefined;
  statusReadAt: number;
}

export class AccessTokens {
  readonly #records: OAuthRecords;
  readonly #keys: SigningKeyRing;
  readonly #urls: Promise<OAuthUrls>;
  readonly #quota: Quota;
  readonly #status: TokenStatus;
  readonly #scopes: RoleScopes;
  readonly #verified = new BoundedMap<string, VerifiedToken>(maxCachedTokens);

  /**
   * @param urls resolved once the server listens
   * @param quota of each client, and of each user through a client
   */
  constructor(
    store: Store,
    records: OAuthRecords,
    keys: SigningKeyRing,
    urls: Promise<OAuthUrls>,
    quota: Quota,
    model: Pick<Model, "roles">,
  ) {
    this.#records = records;
    this.#keys = keys;
    this.#urls = urls;
    this.#quota = quota;
    this.#status = new TokenStatus(store);
    this.#scopes = tokenScopes(model);
  }

  /** The caller of a token. @throws Problem `invalid_credential` */
  async caller(token: string): Promise<Caller> {
    const verified = await this.#current(token);
    if (!verified) throw invalidCredential();
    const rights = await verified.rights;
    const { callerRights } = verified;
    if (callerRights?.scopes !== rights?.scopes || callerRights?.role !== rights?.role) {
      verified.callerRights = rights;
      verified.caller = withRights(verified.caller, this.#scopes, verified.claims.scope, rights);
    }
    return verified.caller;
  }

  /** Whether the token names this authorization server as its issuer. The token is not verified. */
  async isOfIssuer(token: string): Promise<boolean> {
    const { issuer } = await this.#urls;
    return unverifiedClaims(token.slice(0, maxTokenLength))?.["iss"] === issuer;
  }

  /**
   * The claims of a valid token, with the scopes that its client and the role of its user still have; undefined for any
   * other token.
   */
  async claims(token: string): Promise<AccessClaims | undefined> {
    const verified = await this.#current(token, 0);
    if (!verified) return undefined;
    const rights = await verified.rights;
    const scope = commonScopes(verified.claims.scope, rights?.scopes);
    const { scopes } = this.#scopes.of(scope, rights?.role ?? null);
    return { ...verified.claims, scope: [...scopes].join(" ") };
  }

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
      verified.rights = this.#status.current(verified.claims);
      // After a failure, the next request reads the status again.
      verified.rights.catch(() => {
        verified.statusReadAt = -statusTtlMs;
      });
    }
    return (await verified.rights) === undefined ? undefined : verified;
  }

  async #verify(token: string): Promise<VerifiedToken | undefined> {
    if (token.length > maxTokenLength) return undefined;
    const key = hashToken(token);
    const cached = this.#verified.get(key);
    if (cached) return cached;
    const claims = await verifiedClaims(token, this.#keys, await this.#urls);
    if (!claims) return undefined;
    const verified: VerifiedToken = {
      claims,
      caller: callerOfToken(claims, this.#quota),
      rights: Promise.resolve(undefined),
      callerRights: undefined,
      statusReadAt: -statusTtlMs,
    };
    this.#verified.set(key, verified);
    return verified;
  }
}
