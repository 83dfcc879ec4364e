// API keys as a resource: their fields, and how keys are created, rotated and revoked.

import type { Caller, Quota } from "../../declare/caller.ts";
import { belongsTo, choice, computedStatus, id, json, list, text, timestamp } from "../../declare/field.ts";
import type { HookContext } from "../../declare/hooks.ts";
import type { RecordOf } from "../../declare/record.ts";
import { type Resource, resource } from "../../declare/resource.ts";
import { everyScope } from "../../declare/roles.ts";
import type { Rows } from "../../declare/rows.ts";
import { Problem } from "../../errors.ts";
import type { KeyNotifications, NotifiedKey } from "../../mail/key-emails.ts";
import { ownContext } from "../own-hook-context.ts";
import { rotationInput } from "../rotation.ts";
import { requireTenant } from "../tenants/existing-tenant.ts";
import { users } from "../users/resource.ts";
import { assertOutranks, scopesOfRole } from "../users/role-rules.ts";
import { type Environment, type GenerateKey, generateKey, keyHash, prefixLength } from "./format.ts";
import {
  assertCanGrantQuota,
  assertCanGrantScopes,
  defaultExpiry,
  isQuotaWithin,
  keyErrors,
  overlapEnd,
  replacementExpiry,
  requireOwnKey,
  requireUsable,
} from "./rules.ts";

export interface KeyOptions {
  readonly environment: Environment;
  /** Days before its expiry from which a key is `expiring_soon`. */
  readonly expiringSoonDays: number;
  /** The quota of keys without one of their own. */
  readonly standardQuota: Quota;
  readonly notices: KeyNotifications;
  readonly generate?: GenerateKey;
}

export const keyWarning = "Store the key now: it is not shown again.";

const secondsOfDay = 86_400;

const quotaSchema = {
  type: "object",
  properties: {
    limit: { type: "integer", minimum: 1, maximum: 1_000_000_000 },
    windowSeconds: { type: "integer", minimum: 1, maximum: secondsOfDay, default: 60 },
  },
  required: ["limit"],
  additionalProperties: false,
};

const keyFields = (expiringSoonDays: number) => ({
  name: text({ min: 1, max: 200, description: "A label for its owner." }),
  prefix: text({ max: prefixLength, readOnly: true, unique: "all tenants" }),
  keyHash: text({ internal: true }),
  type: choice(["secret", "publishable"], { default: "secret", immutable: true }),
  scopes: list(text({ min: 1, max: 100 }), { uniqueItems: true, default: [] }),
  rateLimit: json({ optional: true, schema: quotaSchema }),
  status: computedStatus("active", [
    { status: "revoked", from: "revokedAt" },
    { status: "expired", from: "expiresAt" },
    { status: "expiring_soon", from: "expiresAt", secondsBefore: expiringSoonDays * secondsOfDay },
  ]),
  owner: belongsTo(() => users, { optional: true, immutable: true, onDelete: "cascade" }),
  expiresAt: timestamp({ optional: true, immutable: true }),
  revokedAt: timestamp({ readOnly: true, optional: true }),
  /** When the owner was notified that the key will expire. */
  expiryNoticeAt: timestamp({ internal: true, optional: true }),
  lastUsedAt: timestamp({ readOnly: true, optional: true, excludeFromETag: true }),
  rotatedFromId: id({ readOnly: true, optional: true, description: "The key that this one replaces." }),
  rotatedToId: id({ readOnly: true, optional: true, description: "The key that replaces this one." }),
});

/** The type of the built-in resource for API keys. */
export type ApiKeys = Resource<"apiKey", ReturnType<typeof keyFields>, undefined>;
type KeyRow = RecordOf<ApiKeys>;

/** The table of keys, for queries. Its columns do not depend on when a key is expiring soon. */
export const apiKeysTable = { name: "apiKey", fields: keyFields(0) } as const;

export function declareApiKeys({
  environment,
  expiringSoonDays,
  standardQuota,
  notices,
  generate = generateKey,
}: KeyOptions): ApiKeys {
  const apiKeys: ApiKeys = resource("apiKey", {
    fields: keyFields(expiringSoonDays),
    version: "v1",
    scopes: { read: "keys:read", write: "keys:manage" },
    filter: ["status", "ownerId"],
    nestedUnder: ["owner", "tenant"],
    markOnDelete: "revokedAt",
    validate: keyErrors,
    returnsOnce: { key: "The key. It is not shown again.", warning: "That the key is not shown again." },
    hooks: {
      before: {
        async create(input, context) {
          const { caller, now, returnOnce } = context;
          await requireTenant(ownContext(context));
          assertCanGrantScopes(scopeList(input), caller);
          // A replacement keeps the owner of the old key, or its lack of one.
          requireOwnKey(isReplacement(input) ? input.ownerId : (input.ownerId ?? undefined), caller);
          await requireRoleWithin(input.ownerId, isReplacement(input), context);
          const key = generate(input.type ?? "secret", environment);
          returnOnce({ key, warning: keyWarning });
          return {
            prefix: key.slice(0, prefixLength),
            keyHash: keyHash(key),
            rateLimit: quotaOfNewKey(input, standardQuota, caller),
            ownerId: input.ownerId ?? (isReplacement(input) ? null : caller.userId),
            expiresAt: input.expiresAt ?? defaultExpiry(now),
          };
        },
        async update(changes, context) {
          const { caller, current } = context;
          requireOwnKey(current.ownerId, caller);
          await requireRoleWithin(current.ownerId, true, context);
          requireUsable(current);
          assertCanGrantScopes(scopeList(changes), caller);
          const rateLimit = asQuota(changes.rateLimit);
          const quota = rateLimit === null ? standardQuota : rateLimit;
          if (quota) assertCanGrantQuota(quota, caller, asQuota(current.rateLimit) ?? standardQuota);
          return { rateLimit };
        },
        delete({ caller, current }) {
          requireOwnKey(current.ownerId, caller);
        },
      },
      after: {
        // `rotate` sends one notification for a key and its replacement.
        create: async (key, context) =>
          key.rotatedFromId === null ? notices.created(notifiedKey(key), context) : undefined,
        delete: (key, context) => notices.revoked(notifiedKey(key), context),
      },
    },
    actions: {
      rotations: {
        verb: "rotate",
        input: rotationInput("key"),
        run: ({ current, input, ...context }) =>
          rotate(apiKeys, notices, current, input.overlapSeconds, context),
      },
    },
  });
  return apiKeys;
}

/**
 * A key acts for its owner, so keys of a user are managed only by those who manage this user. No role restricts keys without
 * an owner, so a user manages them only with every scope. Revoking a key needs no role.
 *
 * @param ownerId null or undefined for a key without an owner, if it exists, or for one of the caller's user
 * @throws Problem `forbidden`
 */
async function requireRoleWithin(
  ownerId: string | null | undefined,
  isExisting: boolean,
  context: HookContext,
): Promise<void> {
  const { caller, rows } = context;
  const { model } = ownContext(context);
  if (typeof ownerId === "string") {
    if (ownerId === caller.userId) return;
    const owner = await rows.get(users, ownerId);
    if (owner) assertOutranks(model, owner.role, caller);
    return;
  }
  if (caller.role === null || !isExisting || scopesOfRole(model, caller.role).has(everyScope)) return;
  throw new Problem(
    "forbidden",
    `The role ${caller.role} does not include every scope, so you cannot change keys without an owner.`,
  );
}

/** Creates a replacement with the same name, scopes and quota. The old key stays valid for the overlap. */
async function rotate(
  apiKeys: ApiKeys,
  notices: KeyNotifications,
  current: KeyRow,
  overlapSeconds: number,
  context: HookContext,
): Promise<KeyRow> {
  requireUsable(current);
  const { rows, now } = context;
  const { name, type, scopes, rateLimit, ownerId } = current;
  const replacement = await rows.create(apiKeys, {
    ...{ name, type, scopes, rateLimit, ownerId },
    expiresAt: replacementExpiry(await lastReplacement(apiKeys, current, rows), now),
    rotatedFromId: current.id,
  });
  const old = await rows.update(apiKeys, current.id, {
    expiresAt: overlapEnd(current.expiresAt, overlapSeconds, now),
    rotatedToId: replacement.id,
    // The notification about the rotation says when the old key expires, so no other one follows.
    expiryNoticeAt: now,
  });
  await notices.rotated(notifiedKey(old), notifiedKey(replacement), context);
  return replacement;
}

/** The last in a chain of replacements. Rotation shortens the lifetime of the others. */
async function lastReplacement(apiKeys: ApiKeys, key: KeyRow, rows: Rows): Promise<KeyRow> {
  let last = key;
  while (last.rotatedToId !== null) {
    const next = await rows.get(apiKeys, last.rotatedToId);
    if (!next) return last;
    last = next;
  }
  return last;
}

/** Whether a new key replaces another one. Only the server sets `rotatedFromId`. */
function isReplacement(input: object): boolean {
  return "rotatedFromId" in input;
}

function notifiedKey({ id, name, prefix, scopes, expiresAt, ownerId }: KeyRow): NotifiedKey {
  return { id, name, prefix, scopes: scopeList({ scopes }), expiresAt, ownerId };
}

/** The schema of the field has validated that it is a list of texts. */
function scopeList({ scopes }: { readonly scopes?: unknown }): readonly string[] {
  return (scopes ?? []) as readonly string[];
}

/**
 * The quota of a new key: the requested one; otherwise that of the caller if it is smaller than the standard one. A
 * replacement keeps the quota of the old key.
 */
function quotaOfNewKey(
  input: { readonly rateLimit?: unknown },
  defaultQuota: Quota,
  caller: Caller,
): Quota | null {
  const requested = asQuota(input.rateLimit) ?? null;
  if (requested === null && !isReplacement(input) && !isQuotaWithin(defaultQuota, caller.quota))
    return caller.quota ?? null;
  assertCanGrantQuota(requested ?? defaultQuota, caller);
  return requested;
}

/** A quota in its stored form, with the default window. The schema of the field has validated the rest. */
function asQuota(value: unknown): Quota | null | undefined {
  if (value === undefined || value === null) return value;
  const { limit, windowSeconds = 60 } = value as { limit: number; windowSeconds?: number };
  return { limit, windowSeconds };
}
