// What may stand in the record of a key, beyond the schemas of its fields.

import type { Caller, Quota } from "../../declare/caller.ts";
import type { ValidationContext } from "../../declare/resource.ts";
import { type FieldError, Problem } from "../../errors.ts";
import { usersWriteScope } from "../users/resource.ts";

/** The scope of a key that has every scope, those of resources declared later too. */
export const everyScope = "*";

const defaultYears = 1;
const maxYears = 2;

type KeyInput = { readonly scopes?: unknown; readonly type?: unknown; readonly expiresAt?: unknown };

/** Faults of a body of whose members the schemas approve. */
export function keyErrors(
  input: KeyInput,
  { operation, now, scopes: known }: ValidationContext,
): readonly FieldError[] {
  return [...scopeErrors(input, operation, known), ...expiryErrors(input.expiresAt, Date.parse(now))];
}

function* scopeErrors(
  { scopes, type }: KeyInput,
  operation: ValidationContext["operation"],
  known: readonly string[],
): Generator<FieldError> {
  if (scopes === undefined) {
    if (operation !== "update" && type !== "publishable") {
      yield { field: "scopes", issue: "required", text: 'is required: a list such as ["posts:read"]' };
    }
    return;
  }
  // The schema has seen that it is a list of texts.
  const unknown = (scopes as string[]).filter((scope) => scope !== everyScope && !known.includes(scope));
  if (unknown.length > 0) {
    const text = `has ${unknown.join(", ")}, which is none of ${everyScope}, ${known.join(", ")}`;
    yield { field: "scopes", issue: "choice", text };
  }
}

function* expiryErrors(expiresAt: unknown, now: number): Generator<FieldError> {
  if (typeof expiresAt !== "string") return;
  const at = Date.parse(expiresAt);
  if (at <= now) yield { field: "expiresAt", issue: "min", text: "has passed" };
  if (at > yearsAfter(now, maxYears))
    yield { field: "expiresAt", issue: "max", text: "is more than two years from now" };
}

/** When a key expires for which nothing is said. */
export function defaultExpiry(now: string): string {
  return new Date(yearsAfter(Date.parse(now), defaultYears)).toISOString();
}

/** A replacement lives as long as the key did that it replaces. */
export function replacementExpiry(
  old: { readonly createdAt: string; readonly expiresAt: string | null },
  now: string,
): string {
  const lifetime = Date.parse(old.expiresAt ?? defaultExpiry(old.createdAt)) - Date.parse(old.createdAt);
  const begin = Date.parse(now);
  return new Date(Math.min(begin + lifetime, yearsAfter(begin, maxYears))).toISOString();
}

/** When a key that is replaced expires: after the overlap, and not later than it would have. */
export function overlapEnd(expiresAt: string | null, overlapSeconds: number, now: string): string {
  const end = timestampAfter(now, overlapSeconds * 1000);
  return expiresAt !== null && expiresAt < end ? expiresAt : end;
}

/** The same day and time in a later year, in UTC. */
function yearsAfter(time: number, years: number): number {
  const date = new Date(time);
  return date.setUTCFullYear(date.getUTCFullYear() + years);
}

function timestampAfter(now: string, milliseconds: number): string {
  return new Date(Date.parse(now) + milliseconds).toISOString();
}

/**
 * A key cannot be granted a scope that the caller lacks, nor by an application of a person what that person may not do
 * to others.
 *
 * @throws Problem `insufficient_scope`
 */
export function assertCanGrantScopes(scopes: readonly string[], caller: Caller): void {
  requireDelegableScopes(scopes, caller);
  const missing = scopes.find((scope) => !caller.scopes.has(scope));
  if (missing === undefined) return;
  throw new Problem(
    "insufficient_scope",
    `The credential lacks the scope ${missing}, so it cannot give it to a key.`,
    [{ field: "scopes", issue: "choice" }],
  );
}

/**
 * A credential gives no key a larger quota than it has itself. What a key has already may be kept or lowered.
 *
 * @param current the quota that the key has so far
 * @throws Problem `forbidden`
 */
export function requireGivableQuota(input: Quota, { quota }: Caller, current?: Quota): void {
  if (isQuotaWithin(input, quota) || (current && isQuotaWithin(input, current))) return;
  const { limit, windowSeconds } = quota!;
  throw new Problem(
    "forbidden",
    `The credential has a quota of ${limit} requests in ${windowSeconds} seconds, so it cannot give a key more.`,
    [{ field: "rateLimit", issue: "max" }],
  );
}

/** Whether a quota allows no more at once, nor in the long run; without a bound everything is within it. */
export function isQuotaWithin({ limit, windowSeconds }: Quota, bound: Quota | undefined): boolean {
  if (!bound) return true;
  return limit <= bound.limit && limit * bound.windowSeconds <= bound.limit * windowSeconds;
}

/** Scopes that reach other people, or make credentials that do. */
const administrativeScopes: ReadonlySet<string> = new Set([
  usersWriteScope,
  "keys:manage",
  "clients:manage",
  everyScope,
]);

/**
 * A key acts for itself: with one of these scopes it would do to every person of the tenant what the access token that
 * made it cannot.
 *
 * @throws Problem `insufficient_scope`
 */
function requireDelegableScopes(scopes: readonly string[], caller: Caller): void {
  const scope = caller.isDelegated ? scopes.find((each) => administrativeScopes.has(each)) : undefined;
  if (scope === undefined) return;
  throw new Problem(
    "insufficient_scope",
    `An access token that a person granted cannot give the scope ${scope} to a key.`,
    [{ field: "scopes", issue: "choice" }],
  );
}

/**
 * An application of a person manages the keys of that person only. One without an owner would pass policies that ask
 * for a user.
 *
 * @param ownerId the key's owner; of a new key undefined for the user of the caller
 * @throws Problem `forbidden`
 */
export function requireOwnKey(ownerId: string | null | undefined, caller: Caller): void {
  if (!caller.isDelegated) return;
  const owner = ownerId === undefined ? caller.userId : ownerId;
  if (owner !== undefined && owner === caller.userId) return;
  throw new Problem(
    "forbidden",
    "An access token that a person granted manages the keys of that person only.",
  );
}

/** @throws Problem `conflict` */
export function requireUsable({ status }: { readonly status: string }): void {
  if (status !== "revoked" && status !== "expired") return;
  throw new Problem("conflict", `The key is ${status}. Make a new one with POST /v1/api-keys.`);
}
