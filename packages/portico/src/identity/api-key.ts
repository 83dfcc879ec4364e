// API keys: what one looks like, the record that is kept of it, and how one is made.

import { hash, randomBytes } from "node:crypto";
import type { Quota } from "../declare/caller.ts";
import { belongsTo, choice, json, text, timestamp } from "../declare/field.ts";
import type { Model } from "../declare/model.ts";
import { moment } from "../declare/moment.ts";
import { resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import { newId } from "../plan/id.ts";
import { ConstraintError, type Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { users } from "./user.ts";

export type Environment = "test" | "live";
export type KeyType = "secret" | "publishable";

/** `sk_test_` and 32 random bytes in base64url (43 characters). */
export const keyPattern = /^(sk|pk)_(test|live)_[\w-]{43}$/;
/** So many characters of a key are stored in the clear and lead to its record. */
export const prefixLength = 12;
const secretBytes = 32;

const day = 24 * 60 * 60 * 1000;
const standardLifetimeMs = 365 * day;
const longestLifetimeMs = 2 * standardLifetimeMs;
/** A key that expires within this time is `expiring_soon`. */
const expiringSoonMs = 7 * day;
/** Four characters of the prefix are random; with a million keys one draw in seventeen collides. */
const mostDraws = 50;

export const apiKeys = resource("apiKey", {
  fields: {
    name: text({ min: 1, max: 200 }),
    type: choice(["secret", "publishable"], { default: "secret" }),
    prefix: text({ max: prefixLength, readOnly: true, unique: "all tenants" }),
    keyHash: text({ internal: true }),
    scopes: json({ default: [] }),
    rateLimit: json({ optional: true }),
    expiresAt: timestamp({ readOnly: true }),
    revokedAt: timestamp({ readOnly: true, optional: true }),
    lastUsedAt: timestamp({ readOnly: true, optional: true }),
    owner: belongsTo(() => users, { optional: true }),
  },
  filter: ["ownerId"],
  scopes: { read: "keys:read", write: "keys:manage" },
  served: false,
});

export interface NewKey {
  readonly tenantId: string;
  readonly ownerId: string | null;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly type: KeyType;
  readonly environment: Environment;
  readonly expiresAt?: string | undefined;
  readonly rateLimit?: Quota | undefined;
}

/** SHA-256 of a whole key, in hex: the only form in which it is kept. */
export function keyHash(key: string): string {
  return hash("sha256", key, "hex");
}

/** A new key: `sk_test_` and 43 characters. */
function drawKey(type: KeyType, environment: Environment): string {
  const kind = type === "secret" ? "sk" : "pk";
  return `${kind}_${environment}_${randomBytes(secretBytes).toString("base64url")}`;
}

export interface MadeKey {
  readonly id: string;
  /** The whole key. This is the only time that it is seen. */
  readonly key: string;
  readonly prefix: string;
  readonly expiresAt: string;
}

/**
 * Makes a key. A collision of its prefix with another key's draws a new one.
 * @throws OperatorError for an unknown scope, a name that is too long or a lifetime out of bounds
 */
export async function createKey(
  store: Store,
  model: Model,
  wanted: NewKey,
  draw: typeof drawKey = drawKey,
): Promise<MadeKey> {
  for (let draws = 1; ; draws += 1) {
    try {
      return await store.transaction((session) => insertKey(store, session, model, wanted, draw));
    } catch (error) {
      const isTaken = error instanceof ConstraintError && error.columns.includes("prefix");
      if (!isTaken || draws === mostDraws) throw error;
    }
  }
}

/** The same, once, in a transaction that does more. */
export async function insertKey(
  store: Store,
  session: Session,
  model: Model,
  wanted: NewKey,
  draw: typeof drawKey = drawKey,
): Promise<MadeKey> {
  for (const scope of wanted.scopes) {
    if (model.scopes.includes(scope)) continue;
    throw new OperatorError(`there is no scope ${scope}; use some of ${model.scopes.join(", ")}`);
  }
  const longestName = apiKeys.fields.name.options.max!;
  if (wanted.name.length > longestName) {
    throw new OperatorError(`the name of a key has ${longestName} characters at most`);
  }
  const now = new Date();
  const expiresAt = expiryOf(wanted.expiresAt, now);
  const id = newId("api_key");
  const key = draw(wanted.type, wanted.environment);
  const prefix = key.slice(0, prefixLength);
  const values = {
    id,
    name: wanted.name,
    type: wanted.type,
    prefix,
    keyHash: keyHash(key),
    scopes: wanted.scopes,
    rateLimit: wanted.rateLimit ?? null,
    expiresAt,
    revokedAt: null,
    ownerId: wanted.ownerId,
    createdAt: now.toISOString(),
    updatedAt: now.toISOString(),
  };
  const resource = model.resource.get(apiKeys.name)!;
  await store.insert(session, { resource, tenantId: wanted.tenantId, values });
  return { id, key, prefix, expiresAt };
}

function expiryOf(given: string | undefined, now: Date): string {
  if (given === undefined) return new Date(now.getTime() + standardLifetimeMs).toISOString();
  const at = Date.parse(moment(given) ?? "");
  if (Number.isNaN(at)) throw new OperatorError(`--expires-at ${given} is no ISO 8601 date`);
  if (at <= now.getTime()) throw new OperatorError(`--expires-at ${given} has passed`);
  if (at > now.getTime() + longestLifetimeMs) throw new OperatorError("a key lives two years at most");
  return new Date(at).toISOString();
}

export type KeyStatus = "active" | "expiring_soon" | "expired" | "revoked";

/** The state of a key, worked out from its record. */
export function keyStatus(
  key: { readonly expiresAt: string; readonly revokedAt: string | null },
  now: number = Date.now(),
): KeyStatus {
  if (key.revokedAt !== null) return "revoked";
  const left = Date.parse(key.expiresAt) - now;
  if (left <= 0) return "expired";
  return left <= expiringSoonMs ? "expiring_soon" : "active";
}
