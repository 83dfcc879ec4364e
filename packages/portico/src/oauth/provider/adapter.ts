// The storage of oidc-provider: each of its models is read from and written to the records, the clients or the access
// tokens of Portico.

import type { Adapter, AdapterPayload } from "oidc-provider";
import type { OAuthClientLookup } from "../../auth/clients/lookup.ts";
import type { AccessTokens } from "../../auth/tokens/access-tokens.ts";
import type { NewRecord } from "../../auth/tokens/oauth-record-statements.ts";
import type { OAuthRecords, StoredRecord } from "../../auth/tokens/oauth-records.ts";
import type { UserLookup } from "../../auth/users/lookup.ts";
import type { LastSeen, SignInSessions } from "../../auth/users/sign-in-sessions.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import type { Role } from "../../model/roles.ts";
import type { BruteForceLimits } from "../endpoints/brute-force-limits.ts";
import { clientMetadata } from "./client-metadata.ts";
import type { Library } from "./library.ts";
import { limitPolling } from "./patches/device-polling.ts";
import { jwtOf, storedTokenOf } from "./patches/jwt-access-tokens.ts";
import { addressOf } from "./patches/mounted-request.ts";
import { presentedSession, suppressSessionCookie } from "./patches/replaced-session.ts";
import {
  addAssertionOnce,
  consumeOnce,
  destroyInteractionOnce,
  updateInteraction,
} from "./patches/single-use.ts";
import { grantableScopes } from "./scopes-of-role.ts";

export interface ProviderStorage {
  readonly records: OAuthRecords;
  readonly clients: OAuthClientLookup;
  readonly users: UserLookup;
  readonly tokens: AccessTokens;
  readonly bruteForce: BruteForceLimits;
  readonly sessions: SignInSessions;
  /** The roles of users. */
  readonly roles: readonly Role[];
}

/** Characters of a User-Agent header that are stored. */
const maxBrowserLength = 300;
/** The member of a model that holds the uid of the session it belongs to. */
const sessionMember: ReadonlyMap<string, "uid" | "sessionUid"> = new Map([
  ["Session", "uid"],
  ["AuthorizationCode", "sessionUid"],
  ["DeviceCode", "sessionUid"],
]);
/** The lifetime of models for which the library passes none. */
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
    const record = this.#recordOf(id, payload, expiresIn);
    if (this.#model === "Interaction" && payload.result !== undefined)
      return updateInteraction(this.#library, records, record);
    if (this.#model === "ReplayDetection") return addAssertionOnce(this.#library, records, record);
    if (this.#model !== "Session" || !this.#isPresented(id)) return records.put(record);
    const isStored = await records.update(record);
    if (!isStored) suppressSessionCookie(this.#library.Provider.ctx!);
  }

  #recordOf(id: string, payload: AdapterPayload, expiresIn: number): NewRecord {
    const { jti: _, ...members } = payload;
    const stored = { ...members, jti: id, ...(this.#model === "Session" && { seen: this.#lastSeen() }) };
    return {
      model: this.#model,
      value: id,
      payload: JSON.stringify(stored),
      expiresAt: epochSeconds() + expiresIn,
      grantId: this.#model === "Grant" ? id : payload.grantId,
      // The user who signed in during an interaction, before a session exists: ending all of a user's sessions ends it too.
      accountId: payload.accountId ?? payload.result?.login?.accountId,
      uid: payload.uid,
      userCode: payload.userCode,
    };
  }

  /** Whether the current request presented this session, which existed when the request began. */
  #isPresented(id: string): boolean {
    const { ctx } = this.#library.Provider;
    return ctx !== undefined && presentedSession(ctx) === id;
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const { records, clients, bruteForce } = this.#storage;
    if (this.#model === "Client") {
      const client = await clients.find(id);
      return client && clientMetadata(client);
    }
    const jwt = isAccessModel(this.#model) ? jwtOf(id) : undefined;
    if (jwt !== undefined) return this.#findAccessToken(jwt, id);
    const stored = payloadOf(await records.find(this.#model, id));
    const payload = await this.#withCurrentScopes(
      await this.#unlessOrphaned(await this.#unlessEnded(stored)),
    );
    if (payload && this.#model === "DeviceCode") await limitPolling(this.#library, bruteForce, id);
    return payload;
  }

  async #findAccessToken(jwt: string, id: string): Promise<AdapterPayload | undefined> {
    const claims = await this.#storage.tokens.claims(jwt);
    if (!claims || !isAccessModel(this.#model)) return undefined;
    return storedTokenOf(claims, id, this.#model, this.#library.Provider.ctx?.oidc.route);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#unlessEnded(payloadOf(await this.#storage.records.findByUid(this.#model, uid)));
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return payloadOf(await this.#storage.records.findByUserCode(this.#model, userCode));
  }

  /** Ignores what a concurrent request stored after its session was ended: the session itself, or a code. */
  async #unlessEnded(payload: AdapterPayload | undefined): Promise<AdapterPayload | undefined> {
    const member = sessionMember.get(this.#model);
    const uid = member && payload?.[member];
    if (typeof uid !== "string") return payload;
    return (await this.#storage.sessions.isEnded(uid)) ? undefined : payload;
  }

  /** Ignores records whose client, redirect URI or user was deleted. */
  async #unlessOrphaned(payload: AdapterPayload | undefined): Promise<AdapterPayload | undefined> {
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

  /** What is introspected of a refresh token: the scopes that the next access token could have. */
  async #withCurrentScopes(payload: AdapterPayload | undefined): Promise<AdapterPayload | undefined> {
    const isIntrospected = this.#library.Provider.ctx?.oidc.route === "introspection";
    if (!payload || this.#model !== "RefreshToken" || !isIntrospected) return payload;
    const { clients, users, roles } = this.#storage;
    const client = await clients.find(String(payload.clientId));
    const user = await users.find(payload.accountId ?? "");
    const scopes = (payload.scope ?? "").split(" ").filter((scope) => client?.scopes.includes(scope));
    return { ...payload, scope: grantableScopes({ roles }, user?.role, scopes).join(" ") };
  }

  #lastSeen(): LastSeen | undefined {
    const request = this.#library.Provider.ctx?.req;
    if (!request) return undefined;
    const browser = (request.headers["user-agent"] ?? "").slice(0, maxBrowserLength);
    return { at: epochSeconds(), address: addressOf(request), browser };
  }

  consume(id: string): Promise<void> {
    return consumeOnce(this.#library, this.#storage.records, this.#model, id);
  }

  async destroy(id: string): Promise<void> {
    const { records, tokens } = this.#storage;
    if (this.#model === "Interaction") return destroyInteractionOnce(this.#library, records, id);
    const jwt = isAccessModel(this.#model) ? jwtOf(id) : undefined;
    if (jwt === undefined) return void (await records.delete(this.#model, id));
    const claims = await tokens.claims(jwt);
    if (claims) await tokens.revoke(claims);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    // Access tokens are not stored; they are valid only while their grant exists.
    if (!isAccessModel(this.#model)) await this.#storage.records.deleteByGrant(this.#model, grantId);
  }
}

function isAccessModel(model: string): model is "AccessToken" | "ClientCredentials" {
  return model === "AccessToken" || model === "ClientCredentials";
}

function payloadOf(record: StoredRecord | undefined): AdapterPayload | undefined {
  if (!record) return undefined;
  const payload: AdapterPayload = JSON.parse(record.payload);
  return record.consumedAt === undefined ? payload : { ...payload, consumed: record.consumedAt };
}
