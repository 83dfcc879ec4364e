// What oidc-provider asks of a database, answered from the records, the clients and the access tokens.

import type { Adapter, AdapterPayload } from "oidc-provider";
import type { OAuthClient, OAuthClientLookup } from "../../auth/clients/lookup.ts";
import type { AccessClaims, AccessTokens } from "../../auth/tokens/access-tokens.ts";
import type { OAuthRecords, StoredRecord } from "../../auth/tokens/oauth-records.ts";
import type { UserLookup } from "../../auth/users/lookup.ts";
import type { LastSeen, SignInSessions } from "../../auth/users/sign-in-sessions.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import type { BruteForceLimits } from "../endpoints/brute-force-limits.ts";
import { presentedSession, suppressSessionCookie } from "../interaction/session-cookie.ts";
import type { Library } from "./library.ts";
import { addressOf } from "./mounted-request.ts";

/** What the authorization server stands on. */
export interface ProviderStorage {
  readonly records: OAuthRecords;
  readonly clients: OAuthClientLookup;
  readonly users: UserLookup;
  readonly tokens: AccessTokens;
  readonly bruteForce: BruteForceLimits;
  readonly sessions: SignInSessions;
}

/** Written before a JSON Web Token, so that the library looks for it instead of refusing its form. */
export const tokenMarker = "~";
const accessModels = ["AccessToken", "ClientCredentials"];
/** What is kept of the text in which a browser says what it is. */
const maxBrowserLength = 300;
/** Where a model names the session that it stands on. */
const sessionMember: ReadonlyMap<string, "uid" | "sessionUid"> = new Map([
  ["Session", "uid"],
  ["AuthorizationCode", "sessionUid"],
  ["DeviceCode", "sessionUid"],
]);
const interactionAnswered = "this request for authorization has had its answer";
/** For models that are kept without end the library names no time. */
const maxLifetimeSeconds = 366 * 86_400;

export class RecordAdapter implements Adapter {
  readonly #model: string;
  readonly #storage: ProviderStorage;
  readonly #library: Library;

  constructor(model: string, storage: ProviderStorage, library: Library) {
    this.#model = model;
    this.#storage = storage;
    this.#library = library;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn: number = maxLifetimeSeconds): Promise<void> {
    const { records } = this.#storage;
    const { jti: _, ...rest } = payload;
    const record = {
      model: this.#model,
      value: id,
      payload: JSON.stringify({
        ...rest,
        jti: id,
        ...(this.#model === "Session" && { seen: this.#lastSeen() }),
      }),
      expiresAt: epochSeconds() + expiresIn,
      grantId: this.#model === "Grant" ? id : payload.grantId,
      // Who signs in in an interaction is known before there is a session: it ends with all others.
      accountId: payload.accountId ?? payload.result?.login?.accountId,
      uid: payload.uid,
      userCode: payload.userCode,
    };
    if (this.#model === "Interaction" && payload.result !== undefined) {
      // What a person said to a request that has had its answer is nothing.
      if (await records.update(record)) return;
      throw new this.#library.errors.SessionNotFound(interactionAnswered);
    }
    if (this.#model === "Session" && this.#isPresented(id)) {
      // One that was replaced meanwhile must not come back: neither what it opened nor what it had forgotten.
      if (!(await records.update(record))) suppressSessionCookie(this.#library.Provider.ctx!);
      return;
    }
    if (this.#model !== "ReplayDetection") return records.put(record);
    // The library looks first and writes then; of two assertions at once both would pass.
    if (await records.add(record)) return;
    throw new this.#library.errors.InvalidClientAuth("client assertion tokens must only be used once");
  }

  /** Whether the request came with this session, which so was found when it came. */
  #isPresented(id: string): boolean {
    const { ctx } = this.#library.Provider;
    return ctx !== undefined && presentedSession(ctx) === id;
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const { records, clients, tokens } = this.#storage;
    if (this.#model === "Client") {
      const client = await clients.find(id);
      return client && metadataOf(client);
    }
    if (accessModels.includes(this.#model) && isToken(id)) {
      const claims = await tokens.claims(withoutMarker(id));
      return claims && this.#tokenOf(claims, id);
    }
    const payload = await this.#unlessGone(
      await this.#unlessEnded(payloadOf(await records.find(this.#model, id))),
    );
    if (payload && this.#model === "DeviceCode") await this.#requirePollInterval(id);
    return payload;
  }

  /** RFC 8628, section 3.5 */
  async #requirePollInterval(deviceCode: string): Promise<void> {
    const { Provider, errors } = this.#library;
    if (Provider.ctx?.oidc.route !== "token") return;
    if (await this.#storage.bruteForce.pollsTooFast(deviceCode)) throw new errors.SlowDown();
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#unlessEnded(payloadOf(await this.#storage.records.findByUid(this.#model, uid)));
  }

  /** What a request wrote while its session was ended is nothing: the session itself, or a code that came of it. */
  async #unlessEnded(payload: AdapterPayload | undefined): Promise<AdapterPayload | undefined> {
    const member = sessionMember.get(this.#model);
    const uid = member && payload?.[member];
    if (typeof uid !== "string") return payload;
    return (await this.#storage.sessions.isEnded(uid)) ? undefined : payload;
  }

  /** What stands on a client, a redirect URI or a person that is gone by now is nothing. */
  async #unlessGone(payload: AdapterPayload | undefined): Promise<AdapterPayload | undefined> {
    if (!payload) return undefined;
    const { clients, users } = this.#storage;
    if (this.#model === "RefreshToken")
      return (await users.find(payload.accountId ?? "")) === undefined ? undefined : payload;
    if (this.#model !== "Interaction") return payload;
    const { client_id: clientId, redirect_uri: redirectUri } = payload.params ?? {};
    const client = await clients.find(String(clientId));
    const isRegistered = redirectUri === undefined || client?.redirectUris.includes(String(redirectUri));
    return client && isRegistered ? payload : undefined;
  }

  /** From where the request comes that uses a session now. */
  #lastSeen(): LastSeen | undefined {
    const request = this.#library.Provider.ctx?.req;
    if (!request) return undefined;
    const browser = (request.headers["user-agent"] ?? "").slice(0, maxBrowserLength);
    return { at: epochSeconds(), address: addressOf(request), browser };
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return payloadOf(await this.#storage.records.findByUserCode(this.#model, userCode));
  }

  /** Of several who try at once one succeeds; for the others, what was granted ends (RFC 9700, section 4.14). */
  async consume(id: string): Promise<void> {
    const { records } = this.#storage;
    if (await records.consume(this.#model, id)) return;
    const grantId = payloadOf(await records.find(this.#model, id))?.grantId;
    if (grantId) await records.deleteGrant(grantId);
    const { errors } = this.#library;
    if (this.#model === "PushedAuthorizationRequest")
      throw new errors.InvalidRequestUri("request_uri was used already");
    throw new errors.InvalidGrant("it was used already");
  }

  async destroy(id: string): Promise<void> {
    const { records, tokens } = this.#storage;
    if (!isToken(id)) {
      const isMine = await records.delete(this.#model, id);
      // Of several who go on with one request for authorization, one is given its answer.
      if (isMine || this.#model !== "Interaction") return;
      throw new this.#library.errors.SessionNotFound(interactionAnswered);
    }
    const claims = await tokens.claims(withoutMarker(id));
    if (claims) await tokens.revoke(claims);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    // Access tokens are not kept: they end with the grant, and one that is revoked is remembered by itself.
    if (!accessModels.includes(this.#model)) await this.#storage.records.deleteByGrant(this.#model, grantId);
  }

  /** An access token as the library would have kept it. */
  #tokenOf(claims: AccessClaims, id: string): AdapterPayload | undefined {
    const isUser = claims.sub !== claims.client_id;
    if (isUser !== (this.#model === "AccessToken")) return undefined;
    const { client_id: clientId, tenant_id, aud, exp, iat, scope } = claims;
    // The library takes a token with an audience for one that is not its own.
    const isOwn = this.#library.Provider.ctx?.oidc.route === "userinfo";
    return {
      kind: this.#model,
      jti: id,
      ...{ clientId, exp, iat, scope },
      ...(isUser && { accountId: claims.sub, grantId: claims.grant_id }),
      ...(!isOwn && { aud }),
      extra: { tenant_id, ...(isUser && { grant_id: claims.grant_id }) },
    };
  }
}

function isToken(id: string): boolean {
  return id.startsWith("eyJ") || id.startsWith(`${tokenMarker}eyJ`);
}

function withoutMarker(id: string): string {
  return id.startsWith(tokenMarker) ? id.slice(tokenMarker.length) : id;
}

function payloadOf(record: StoredRecord | undefined): AdapterPayload | undefined {
  if (!record) return undefined;
  const payload: AdapterPayload = JSON.parse(record.payload);
  return record.consumedAt === undefined ? payload : { ...payload, consumed: record.consumedAt };
}

/** Names of members of a client that are ours, not OpenID Connect's. */
export const ownMetadata = ["tenant_id", "tenant_name", "requires_consent", "may_introspect", "secrets"];

/** Not `form_post`: its page needs a script. */
export const responseModes = ["query", "fragment"] as const;

/** RFC 7591, section 2 */
function metadataOf(client: OAuthClient): AdapterPayload {
  const hasCode = client.grantTypes.includes("authorization_code");
  const hasSecret = client.authMethod.startsWith("client_secret");
  return {
    client_id: client.clientId,
    client_name: client.name,
    token_endpoint_auth_method: client.authMethod,
    grant_types: [...client.grantTypes],
    response_types: hasCode ? ["code"] : [],
    response_modes: [...responseModes],
    redirect_uris: [...client.redirectUris],
    // The library takes no empty text; what a client without scopes may ask for is seen where scopes are asked for.
    ...(client.scopes.length > 0 && { scope: client.scopes.join(" ") }),
    // What is presented is held against `secrets`; the library only wants to see that there is one.
    ...(hasSecret && { client_secret: "kept as a hash" }),
    ...(client.jwks && { jwks: client.jwks }),
    ...(client.jwksUri !== undefined && { jwks_uri: client.jwksUri }),
    tenant_id: client.tenantId,
    tenant_name: client.tenantName,
    requires_consent: client.requiresConsent,
    may_introspect: client.mayIntrospect,
    secrets: client.secrets,
  } as AdapterPayload;
}
