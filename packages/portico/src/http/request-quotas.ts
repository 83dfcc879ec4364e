// Quotas of the API: each request takes a token from the bucket of its credential, or of its address if it is anonymous,
// and each refused credential one from the bucket of its address. Headers: draft-ietf-httpapi-ratelimit-headers.

import type { FastifyInstance, FastifyReply } from "fastify";
import type { Caller, Quota } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { QuotaState, Quotas } from "../limits/quota.ts";
import { networkOf } from "../net/network.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the route counts the operations of a request instead of the request. */
    countsOperations?: boolean;
  }
}

type SetHeaders = (headers: Readonly<Record<string, string>>) => void;

/** Static files that need no credential. A page has five, which browsers load once. */
const fileQuota: Quota = { limit: 300, windowSeconds: 60 };

const tooManyFiles = "Too many files were requested from this address. Wait for the seconds in Retry-After.";

/** Errors that count as failed authentication. A missing credential does not: it is not an attempt to guess one. */
const failures: ReadonlySet<unknown> = new Set(["invalid_credential", "wrong_environment"]);

const tooManyFailures =
  "Too many credentials from this address were refused. Send a valid one, or wait for the seconds in Retry-After.";

/** Stores of their own: many addresses cannot evict the bucket of a credential. */
export interface QuotaStores {
  /** By credential. */
  readonly credentials: Quotas;
  /** By the addresses of anonymous callers, and by their publishable keys. */
  readonly anonymous: Quotas;
  /** By the addresses that send refused credentials, or request files. */
  readonly addresses: Quotas;
}

export class RequestQuotas {
  readonly #stores: QuotaStores;
  readonly #failedAuth: Quota;

  /** @param failedAuth how many refused credentials an address may send */
  constructor(stores: QuotaStores, failedAuth: Quota) {
    this.#stores = stores;
    this.#failedAuth = failedAuth;
  }

  /** The store that has the bucket of a caller. */
  #storeOf({ kind }: Caller): Quotas {
    return kind === "anonymous" ? this.#stores.anonymous : this.#stores.credentials;
  }

  /** Counts every request of a credential. Call it after the hook that authenticates. */
  countRequests(routes: FastifyInstance): void {
    routes.addHook("onRequest", (request, reply, done) => {
      const { caller } = request;
      if (!caller?.quota || request.route.config.countsOperations) return done();
      const { quota } = caller;
      const state = this.#storeOf(caller).take(bucketOf(caller), quota);
      if (!(state instanceof Promise)) return setRateLimitHeaders(reply, quota, state, done);
      state.then((known) => setRateLimitHeaders(reply, quota, known, done), done);
    });
  }

  /**
   * Counts an operation that is not a request of its own.
   *
   * @param setHeaders receives the headers with the tokens left
   * @throws Problem `rate_limited`
   */
  async countOperation(caller: Caller, setHeaders?: SetHeaders): Promise<void> {
    const { quota } = caller;
    if (!quota) return;
    const state = await this.#storeOf(caller).take(bucketOf(caller), quota);
    setHeaders?.({ "RateLimit-Policy": policyOf(quota), RateLimit: rateLimitHeader(state) });
    if (!state.isAllowed) throw rateLimited(state);
  }

  /**
   * Charges the extra cost of an operation on top of the one token every request takes. If too few are left, that token is
   * refunded.
   *
   * @param setHeaders receives the headers with the tokens left
   * @throws Problem `rate_limited`
   */
  async takeCost(caller: Caller, tokens: number, setHeaders: SetHeaders): Promise<void> {
    const { quota } = caller;
    if (!quota) return;
    const store = this.#storeOf(caller);
    const bucket = bucketOf(caller);
    const state = await store.take(bucket, quota, tokens);
    if (state.isAllowed) return setHeaders({ RateLimit: rateLimitHeader(state) });
    setHeaders({ RateLimit: rateLimitHeader(await store.take(bucket, quota, -1)) });
    throw rateLimited(state);
  }

  /**
   * Charges a response once its size is known, on top of its request.
   *
   * @param setHeaders receives the headers with the tokens left
   */
  async chargeResponse(caller: Caller, tokens: number, setHeaders: SetHeaders): Promise<void> {
    const { quota } = caller;
    if (!quota) return;
    const state = await this.#storeOf(caller).charge(bucketOf(caller), quota, tokens);
    setHeaders({ RateLimit: rateLimitHeader(state) });
  }

  /**
   * Charges what was sent to a stream.
   *
   * @returns seconds until a token is available; 0 if one is left
   */
  chargeStream(caller: Caller, tokens: number): number | Promise<number> {
    const { quota } = caller;
    if (!quota) return 0;
    const state = this.#storeOf(caller).charge(bucketOf(caller), quota, tokens);
    return state instanceof Promise
      ? state.then((known) => secondsToToken(known, quota))
      : secondsToToken(state, quota);
  }

  /** Counts a static file for the address that requests it. @throws Problem `rate_limited` */
  async countFile(address: string): Promise<void> {
    const state = await this.#stores.addresses.take(`file ${networkOf(address)}`, fileQuota);
    if (!state.isAllowed) throw rateLimited(state, tooManyFiles);
  }

  /** Counts a failed authentication. @returns the error to respond with: `error`, or `rate_limited` */
  async countFailure(error: unknown, address: string): Promise<unknown> {
    if (!(error instanceof Problem) || !failures.has(error.code)) return error;
    const state = await this.#stores.addresses.take(networkOf(address), this.#failedAuth);
    return state.isAllowed ? error : rateLimited(state, tooManyFailures);
  }
}

/** The bucket of a caller's quota. */
function bucketOf({ quotaBucket, credentialId }: Caller): string {
  return quotaBucket ?? credentialId;
}

/** Values of `RateLimit-Policy`: many keys share one quota. */
const policies = new WeakMap<Quota, string>();

function setRateLimitHeaders(
  reply: FastifyReply,
  quota: Quota,
  state: QuotaState,
  done: (error?: Error) => void,
): void {
  reply.header("RateLimit-Policy", policyOf(quota));
  reply.header("RateLimit", rateLimitHeader(state));
  if (state.isAllowed) done();
  else done(rateLimited(state));
}

function policyOf(quota: Quota): string {
  let policy = policies.get(quota);
  if (policy === undefined) {
    policy = `"default";q=${quota.limit};w=${quota.windowSeconds}`;
    policies.set(quota, policy);
  }
  return policy;
}

function rateLimitHeader({ remaining, secondsToFull }: QuotaState): string {
  return `"default";r=${remaining};t=${secondsToFull}`;
}

function secondsToToken({ remaining, secondsToFull }: QuotaState, { limit, windowSeconds }: Quota): number {
  if (remaining > 0) return 0;
  return Math.max(1, Math.ceil(secondsToFull - ((limit - 1) * windowSeconds) / limit));
}

function rateLimited({ secondsToNext }: QuotaState, message?: string): Problem {
  return new Problem("rate_limited", message, [], { "Retry-After": String(secondsToNext) });
}
