// Quotas of the API: every request of a known caller takes a token of its credential's bucket, every credential
// that is refused one of its address's. Headers: draft-ietf-httpapi-ratelimit-headers.

import type { FastifyInstance, FastifyReply } from "fastify";
import type { Caller, Quota } from "../../declare/caller.ts";
import { Problem } from "../../errors.ts";
import type { QuotaState, Quotas } from "../../limits/quota.ts";
import { networkOf } from "../../net/network.ts";

/** Counts the requests of each credential. Call it after the hook that tells the caller. */
export function countRequests(routes: FastifyInstance, quotas: Quotas): void {
  routes.addHook("onRequest", (request, reply, done) => {
    const { caller } = request;
    if (!caller?.quota) return done();
    const { quota, credentialId } = caller;
    const state = quotas.take(credentialId, quota);
    if (!(state instanceof Promise)) return setRateLimitHeaders(reply, quota, state, done);
    state.then((known) => setRateLimitHeaders(reply, quota, known, done), done);
  });
}

/** Texts of `RateLimit-Policy`: many keys have one quota. */
const policies = new WeakMap<Quota, string>();

function setRateLimitHeaders(
  reply: FastifyReply,
  quota: Quota,
  state: QuotaState,
  done: (error?: Error) => void,
): void {
  let policy = policies.get(quota);
  if (policy === undefined) {
    policy = `"default";q=${quota.limit};w=${quota.windowSeconds}`;
    policies.set(quota, policy);
  }
  reply.header("RateLimit-Policy", policy);
  reply.header("RateLimit", rateLimitHeader(state));
  if (state.isAllowed) done();
  else done(rateLimited(state));
}

/** What `RateLimit` says. */
function rateLimitHeader({ remaining, secondsToFull }: QuotaState): string {
  return `"default";r=${remaining};t=${secondsToFull}`;
}

/** Takes from a caller's bucket for what is no request of its own. @throws Problem `rate_limited` */
export async function countOperation(quotas: Quotas, { quota, credentialId }: Caller): Promise<void> {
  if (!quota) return;
  const state = await quotas.take(credentialId, quota);
  if (!state.isAllowed) throw rateLimited(state);
}

/**
 * Takes what a request costs beside the token that it took as every other; where there are not as many, that one is
 * given back.
 *
 * @param setHeaders is told the headers that say what is left now
 * @throws Problem `rate_limited`
 */
export async function takeCost(
  quotas: Quotas,
  { quota, credentialId }: Caller,
  tokens: number,
  setHeaders: (headers: Readonly<Record<string, string>>) => void,
): Promise<void> {
  if (!quota) return;
  const state = await quotas.take(credentialId, quota, tokens);
  if (state.isAllowed) return setHeaders({ RateLimit: rateLimitHeader(state) });
  setHeaders({ RateLimit: rateLimitHeader(await quotas.take(credentialId, quota, -1)) });
  throw rateLimited(state);
}

/**
 * Takes what an answer costs beside its request, once its size is known.
 *
 * @param setHeaders is told the headers that say what is left now
 */
export async function chargeAnswer(
  quotas: Quotas,
  { quota, credentialId }: Caller,
  tokens: number,
  setHeaders: (headers: Readonly<Record<string, string>>) => void,
): Promise<void> {
  if (quota) setHeaders({ RateLimit: rateLimitHeader(await quotas.charge(credentialId, quota, tokens)) });
}

/**
 * Takes what was sent to a stream.
 *
 * @returns seconds until a token is there; 0 where one is left
 */
export function chargeStream(
  quotas: Quotas,
  { quota, credentialId }: Caller,
  tokens: number,
): number | Promise<number> {
  if (!quota) return 0;
  const state = quotas.charge(credentialId, quota, tokens);
  return state instanceof Promise
    ? state.then((known) => secondsToToken(known, quota))
    : secondsToToken(state, quota);
}

function secondsToToken({ remaining, secondsToFull }: QuotaState, { limit, windowSeconds }: Quota): number {
  if (remaining > 0) return 0;
  return Math.max(1, Math.ceil(secondsToFull - ((limit - 1) * windowSeconds) / limit));
}

function rateLimited({ secondsToNext }: QuotaState, message?: string): Problem {
  return new Problem("rate_limited", message, [], { "Retry-After": String(secondsToNext) });
}

/** Static files that need no credential: five are a page, which browsers ask for once. */
const fileQuota: Quota = { limit: 300, windowSeconds: 60 };

/** Counts a static file for the address that asks for it. @throws Problem `rate_limited` */
export async function countFile(quotas: Quotas, address: string): Promise<void> {
  const state = await quotas.take(`file ${networkOf(address)}`, fileQuota);
  if (!state.isAllowed) throw rateLimited(state, tooManyFiles);
}

const tooManyFiles = "Too many files were asked for from this address. Wait for the seconds in Retry-After.";

/** Credentials that were shown and refused; a request without any is not one that guesses. */
const failures: ReadonlySet<unknown> = new Set(["invalid_credential", "wrong_environment"]);

const tooManyFailures =
  "Too many credentials from this address were refused. Send a valid one, or wait for the seconds in Retry-After.";

/** What a request is answered that failed to show who sends it: the error, or that there were too many of them. */
export async function failedAuthentication(
  error: unknown,
  address: string,
  quotas: Quotas,
  quota: Quota,
): Promise<unknown> {
  if (!(error instanceof Problem) || !failures.has(error.code)) return error;
  const state = await quotas.take(networkOf(address), quota);
  return state.isAllowed ? error : rateLimited(state, tooManyFailures);
}
