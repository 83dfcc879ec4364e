// Rules for API keys beyond the schemas of their fields.

import { administrativeScopes } from "../../declare/administrative-scopes.ts";
import type { Caller, Quota } from "../../declare/caller.ts";
import type { ValidationContext } from "../../declare/hooks.ts";
import { everyScope } from "../../declare/roles.ts";
import { type FieldError, Problem } from "../../errors.ts";

const defaultYears = 1;
const maxYears = 2;

type KeyInput = { readonly scopes?: unknown; readonly type?: unknown; readonly expiresAt?: unknown };

/** Validates a body whose fields match their schemas. */
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
  // The schema has validated that it is a list of texts.
  const unknown = (scopes as string[]).filter((scope) => scope !== everyScope && !known.includes(scope));
  if (unknown.length > 0) {
    const text = `contains unknown scopes: ${unknown.join(", ")} (known: ${everyScope}, ${known.join(", ")})`;
    yield { field: "scopes", issue: "choice", text };
  }
}

function* expiryErrors(expiresAt: unknown, now: number): Generator<FieldError> {
  if (typeof expiresAt !== "string") return;
  const at = Date.parse(expiresAt);
  if (at <= now) yield { field: "expiresAt", issue: "min", text: "is in the past" };
  if (at > yearsAfter(now, maxYears))
    yield { field: "expiresAt", issue: "max", text: "is more than two years in the future" };
}

/** The expiry of a key for which none was requested. */
export function defaultExpiry(now: string): string {
  return new Date(yearsAfter(Date.parse(now), defaultYears)).toISOString();
}

/** The expiry of a replacement, whose lifetime is that of the old key. */
export function replacementExpiry(
  old: { readonly createdAt: string; readonly expiresAt: string | null },
  now: string,
): string {
  const lifetime = Date.parse(old.expiresAt ?? defaultExpiry(old.createdAt)) - Date.parse(old.createdAt);
  const start = Date.parse(now);
  return new Date(Math.min(start + lifetime, yearsAfter(start, maxYears))).toISOString();
}

/** The expiry of a replaced key: the end of the overlap, or its own expiry if that is earlier. */
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
 * A key cannot be granted a scope that the caller lacks. A token that a user granted cannot create a key with
 * administrative scopes either.
 *
 * @throws Problem `insufficient_scope`
 */
export function assertCanGrantScopes(scopes: readonly string[], caller: Caller): void {
  requireDelegableScopes(scopes, caller);
  const missing = scopes.find((scope) => !caller.scopes.has(scope));
  if (missing === undefined) return;
  throw new Problem(
    "insufficient_scope",
    `The credential lacks the scope ${missing}, so it cannot grant it to a key.`,
    [{ field: "scopes", issue: "choice" }],
  );
}

/**
 * A key cannot be granted a larger quota than the caller has, but it can keep or lower its current one.
 *
 * @param current the current quota of an existing key
 * @throws Problem `forbidden`
 */
export function assertCanGrantQuota(input: Quota, { quota }: Caller, current?: Quota): void {
  if (isQuotaWithin(input, quota) || (current && isQuotaWithin(input, current))) return;
  const { limit, windowSeconds } = quota!;
  throw new Problem(
    "forbidden",
    `The credential has a quota of ${limit} requests in ${windowSeconds} seconds, so it cannot grant more to a key.`,
    [{ field: "rateLimit", issue: "max" }],
  );
}

/** Whether a quota allows no larger burst and no higher rate than a bound; without a bound, every quota does. */
export function isQuotaWithin({ limit, windowSeconds }: Quota, bound: Quota | undefined): boolean {
  if (!bound) return true;
  return limit <= bound.limit && limit * bound.windowSeconds <= bound.limit * windowSeconds;
}

/**
 * A key acts for itself. With one of these scopes it could do to every user of the tenant what the access token that
 * created it cannot.
 *
 * @throws Problem `insufficient_scope`
 */
function requireDelegableScopes(scopes: readonly string[], caller: Caller): void {
  const scope = caller.isDelegated ? scopes.find((each) => administrativeScopes.has(each)) : undefined;
  if (scope === undefined) return;
  throw new Problem(
    "insufficient_scope",
    `An access token granted by a user cannot grant the scope ${scope} to a key.`,
    [{ field: "scopes", issue: "choice" }],
  );
}

/**
 * A token that a user granted manages keys of that user only, because a key without an owner would bypass policies that
 * depend on the user.
 *
 * @param ownerId the owner of the key; undefined for a new key that belongs to the caller's user
 * @throws Problem `forbidden`
 */
export function requireOwnKey(ownerId: string | null | undefined, caller: Caller): void {
  if (!caller.isDelegated) return;
  const owner = ownerId === undefined ? caller.userId : ownerId;
  if (owner !== null && owner === caller.userId) return;
  throw new Problem("forbidden", "An access token granted by a user can manage keys of that user only.");
}

/** @throws Problem `conflict` */
export function requireUsable({ status }: { readonly status: string }): void {
  if (status !== "revoked" && status !== "expired") return;
  throw new Problem("conflict", `The key is ${status}. Create a new one with POST /v1/api-keys.`);
}
