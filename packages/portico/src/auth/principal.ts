// Principals: whom something acts for when no credential is presented, such as a webhook endpoint or an export. A
// principal is stored; whenever something is done on its behalf, its current caller is looked up.

import type { Caller, Quota } from "../declare/caller.ts";
import type { Model } from "../model/model.ts";
import type { Store } from "../store/store.ts";
import { callerOfKey } from "./api-keys/key-caller.ts";
import { KeyLookup } from "./api-keys/lookup.ts";
import type { RoleScopes } from "./role-scopes.ts";
import { callerOfToken, tokenScopes, withRights } from "./tokens/token-caller.ts";
import { TokenStatus } from "./tokens/token-status.ts";
import { UserLookup } from "./users/lookup.ts";
import { scopesOfRole } from "./users/role-rules.ts";

/** Plain data, to be stored as JSON. */
export type Principal =
  /** A secret API key, and after its rotation the key that replaces it. */
  | { readonly kind: "key"; readonly tenantId: string; readonly keyId: string }
  /** A user through a client, while the grant of the user to the client stands. */
  | {
      readonly kind: "grant";
      readonly tenantId: string;
      readonly userId: string;
      readonly clientId: string;
      readonly grantId: string;
      /** Those of the access token. */
      readonly scopes: readonly string[];
    }
  /** A client that acts for itself, with the scopes of its access token. */
  | {
      readonly kind: "client";
      readonly tenantId: string;
      readonly clientId: string;
      readonly scopes: readonly string[];
    }
  /** A user, with all scopes of the role. Commands act for users so. */
  | { readonly kind: "user"; readonly tenantId: string; readonly userId: string };

/**
 * The principal that a caller acts for; undefined if nothing can act for it later: the server cannot know how long a
 * token of another issuer stands, and a publishable key identifies nobody.
 */
export function principalOf(caller: Caller): Principal | undefined {
  const { kind, tenantId, userId, keyId, clientId, grantId } = caller;
  if (kind === "key" && keyId !== undefined) return { kind, tenantId, keyId };
  const scopes = [...caller.scopes, ...(caller.scopesOutsideRole ?? [])];
  if (kind === "client" && clientId !== undefined) return { kind, tenantId, clientId, scopes };
  if (userId === null) return undefined;
  if (kind === "system") return { kind: "user", tenantId, userId };
  if (kind !== "user" || clientId === undefined || grantId === undefined) return undefined;
  return { kind: "grant", tenantId, userId, clientId, grantId, scopes };
}

/** Looks up the current callers of principals. */
export class Principals {
  readonly #model: Pick<Model, "roles">;
  readonly #quota: Quota;
  readonly #keys: KeyLookup;
  readonly #tokens: TokenStatus;
  readonly #tokenScopes: RoleScopes;
  readonly #users: UserLookup;

  /** @param quota of keys without a quota of their own, and of all other credentials */
  constructor(store: Store, model: Pick<Model, "scopes" | "roles">, quota: Quota) {
    this.#model = model;
    this.#quota = quota;
    this.#keys = new KeyLookup(store, model);
    this.#tokens = new TokenStatus(store);
    this.#tokenScopes = tokenScopes(model);
    this.#users = new UserLookup(store);
  }

  /**
   * The caller of a principal, with the scopes and the role that it has now. It is read from the database, so a
   * revocation counts at once.
   *
   * @returns undefined if the principal is gone: the key was revoked or has expired, the grant was withdrawn, the client
   *   was deleted, or the user was deactivated or deleted
   */
  async current(principal: Principal): Promise<Caller | undefined> {
    switch (principal.kind) {
      case "key": {
        const record = await this.#keys.findLatest(principal.tenantId, principal.keyId);
        return record && callerOfKey(record, this.#quota, undefined);
      }
      case "user":
        return this.#ofUser(principal.tenantId, principal.userId);
      case "grant":
        return this.#ofToken(principal, principal.userId, principal.grantId);
      case "client":
        return this.#ofToken(principal, principal.clientId, undefined);
    }
  }

  async #ofUser(tenantId: string, userId: string): Promise<Caller | undefined> {
    const user = await this.#users.find(userId);
    if (user?.tenantId !== tenantId) return undefined;
    const scopes = scopesOfRole(this.#model, user.role);
    return {
      kind: "user",
      tenantId,
      userId,
      role: user.role,
      credentialId: userId,
      scopes,
      quota: this.#quota,
    };
  }

  async #ofToken(
    { tenantId, clientId, scopes }: Extract<Principal, { readonly clientId: string }>,
    sub: string,
    grantId: string | undefined,
  ): Promise<Caller | undefined> {
    const subject = {
      tenant_id: tenantId,
      client_id: clientId,
      sub,
      ...(grantId !== undefined && { grant_id: grantId }),
    };
    const rights = await this.#tokens.ofSubject(subject);
    const caller = callerOfToken(subject, this.#quota);
    return rights && withRights(caller, this.#tokenScopes, scopes.join(" "), rights);
  }
}
