// Authenticates a request. The environment of a key is checked before the database is read, then prefix, status and hash,
// the hash in constant time. The engine checks scopes.

import { timingSafeEqual } from "node:crypto";
import type { Caller, Quota } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { PresentedHeaders } from "../lib/presented-headers.ts";
import type { Model } from "../model/model.ts";
import type { Store } from "../store/store.ts";
import { type Environment, keyHash, keyPattern, keyPrefixPattern, prefixLength } from "./api-keys/format.ts";
import { callerOfKey } from "./api-keys/key-caller.ts";
import { KeyLookup } from "./api-keys/lookup.ts";
import { challenge, invalidCredential, presentedCredential } from "./presented-credential.ts";
import type { AccessTokens } from "./tokens/access-tokens.ts";

export class Authenticator {
  readonly #keys: KeyLookup;
  readonly #environment: Environment;
  readonly #quota: Quota;
  readonly #tokens: Pick<AccessTokens, "caller">;
  /** By address and credential: requests that were received together share one verification. */
  #pending = new Map<string, Promise<Caller>>();

  /**
   * @param quota of keys without a quota of their own
   * @param model with every scope of the API, and the roles of users
   */
  constructor(
    store: Store,
    environment: Environment,
    quota: Quota,
    tokens: Pick<AccessTokens, "caller">,
    model: Pick<Model, "scopes" | "roles">,
  ) {
    this.#keys = new KeyLookup(store, model);
    this.#environment = environment;
    this.#quota = quota;
    this.#tokens = tokens;
  }

  /**
   * The caller of a request with these headers.
   *
   * @param address the network address of the client, if it is known
   * @throws Problem 400 or 401
   */
  caller(request: PresentedHeaders, address?: string): Promise<Caller> {
    const presented = presentedCredential(request);
    const name = `${address} ${presented}`;
    const pending = this.#pending.get(name);
    if (pending) return pending;
    if (this.#pending.size === 0) setImmediate(() => this.#clearPending());
    const caller = this.#verify(presented, address);
    this.#pending.set(name, caller);
    return caller;
  }

  /** Requests received from now on are verified again: they may come after a revocation. */
  #clearPending(): void {
    this.#pending = new Map();
  }

  async #verify(presented: string, address: string | undefined): Promise<Caller> {
    const environment = keyPattern.exec(presented)?.[2];
    if (environment === undefined && keyPrefixPattern.test(presented)) throw invalidCredential();
    // Not a key: it may be an access token.
    if (environment === undefined) return { ...(await this.#tokens.caller(presented)), address };
    if (environment !== this.#environment) throw wrongEnvironment(this.#environment);

    const record = await this.#keys.find(presented.slice(0, prefixLength));
    // Hash and compare in any case, so that all refusals take the same time.
    const isSame = timingSafeEqual(Buffer.from(keyHash(presented)), Buffer.from(record.keyHash));
    if (!record.isKnown || record.isRevoked || record.expiresAt <= Date.now()) throw invalidCredential();
    if (!isSame || record.isOwnerInactive) throw invalidCredential();
    return callerOfKey(record, this.#quota, address);
  }
}

function wrongEnvironment(environment: Environment): Problem {
  const message =
    environment === "live"
      ? "This is the live API, and the key belongs to the sandbox. Use a key that begins with sk_live_."
      : "This is the sandbox, and the key belongs to the live API. Use a key that begins with sk_test_.";
  return new Problem("wrong_environment", message, [], challenge("invalid_token"));
}
