// From the headers of a request to its caller. The environment is seen before any look-up; then the checks come in
// the specification's order: prefix, state, hash in constant time. The scope is checked by the engine.

import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Caller, Quota } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { Store } from "../store/store.ts";
import { type Environment, keyHash, keyPattern, keyPrefixPattern, prefixLength } from "./api-keys/format.ts";
import { KeyLookup } from "./api-keys/lookup.ts";
import { challenge, invalidCredential, presentedCredential } from "./presented-credential.ts";
import type { AccessTokens } from "./tokens/access-tokens.ts";

export class Authenticator {
  readonly #keys: KeyLookup;
  readonly #environment: Environment;
  readonly #quota: Quota;
  readonly #tokens: Pick<AccessTokens, "caller">;
  /** Addresses and credentials of the requests that were received together: each is verified once. */
  #pending = new Map<string, Promise<Caller>>();

  /**
   * @param quota of keys that have none of their own
   * @param scopes every scope there is
   */
  constructor(
    store: Store,
    environment: Environment,
    quota: Quota,
    tokens: Pick<AccessTokens, "caller">,
    scopes: readonly string[],
  ) {
    this.#keys = new KeyLookup(store, scopes);
    this.#environment = environment;
    this.#quota = quota;
    this.#tokens = tokens;
  }

  /**
   * Who sends a request with these headers.
   *
   * @param address where it comes from, if that is known
   * @throws Problem 400 or 401
   */
  caller(request: Pick<IncomingMessage, "headers" | "rawHeaders">, address?: string): Promise<Caller> {
    const presented = presentedCredential(request);
    const name = `${address} ${presented}`;
    const pending = this.#pending.get(name);
    if (pending) return pending;
    if (this.#pending.size === 0) setImmediate(() => this.#clearPending());
    const caller = this.#verify(presented, address);
    this.#pending.set(name, caller);
    return caller;
  }

  /** Requests that are received from here on look anew: they may come after a revocation. */
  #clearPending(): void {
    this.#pending = new Map();
  }

  async #verify(presented: string, address: string | undefined): Promise<Caller> {
    const environment = keyPattern.exec(presented)?.[2];
    if (environment === undefined && keyPrefixPattern.test(presented)) throw invalidCredential();
    // What is no key may be a token.
    if (environment === undefined) return { ...(await this.#tokens.caller(presented)), address };
    if (environment !== this.#environment) throw wrongEnvironment(this.#environment);

    const record = await this.#keys.find(presented.slice(0, prefixLength));
    // The hash is taken and compared whatever the record says, so that all refusals take the same time.
    const isSame = timingSafeEqual(Buffer.from(keyHash(presented)), Buffer.from(record.keyHash));
    if (!record.isKnown || record.isRevoked || record.expiresAt <= Date.now()) throw invalidCredential();
    if (!isSame) throw invalidCredential();
    return {
      tenantId: record.tenantId,
      userId: record.ownerId,
      credentialId: record.id,
      keyId: record.id,
      // A publishable key tells whose account it is, and opens nothing.
      scopes: record.type === "secret" ? record.scopes : noScopes,
      quota: record.quota ?? this.#quota,
      address,
    };
  }
}

const noScopes: ReadonlySet<string> = new Set();

function wrongEnvironment(environment: Environment): Problem {
  const message =
    environment === "live"
      ? "This is the live API, and the key belongs to the sandbox. Use a key that begins with sk_live_."
      : "This is the sandbox, and the key belongs to the live API. Use a key that begins with sk_test_.";
  return new Problem("wrong_environment", message, [], challenge("invalid_token"));
}
