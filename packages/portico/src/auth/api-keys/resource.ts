// API keys as a resource: the record that is kept of each, how one is made, replaced and revoked.

import type { Caller, Quota } from "../../declare/caller.ts";
import { belongsTo, choice, computedStatus, id, json, list, text, timestamp } from "../../declare/field.ts";
import type { RecordOf } from "../../declare/record.ts";
import { type HookContext, type Resource, type Rows, resource } from "../../declare/resource.ts";
import type { KeyNotifications, NotifiedKey } from "../../mail/key-emails.ts";
import { rotationInput } from "../rotation.ts";
import { users } from "../users/resource.ts";
import { type Environment, type GenerateKey, generateKey, keyHash, prefixLength } from "./format.ts";
import {
  assertCanGrantScopes,
  defaultExpiry,
  isQuotaWithin,
  keyErrors,
  overlapEnd,
  replacementExpiry,
  requireGivableQuota,
  requireOwnKey,
  requireUsable,
} from "./rules.ts";

export interface KeyOptions {
  readonly environment: Environment;
  /** So long before its expiry a key is `expiring_soon`. */
  readonly expiringSoonDays: number;
  /** The quota of keys that have none of their own. */
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
  /** When its owner was told that it expires. */
  expiryNoticeAt: timestamp({ internal: true, optional: true }),
  lastUsedAt: timestamp({ readOnly: true, optional: true, excludeFromETag: true }),
  rotatedFromId: id({ readOnly: true, optional: true, description: "The key that this one replaces." }),
  rotatedToId: id({ readOnly: true, optional: true, description: "The key that replaces this one." }),
});

/** The server's own resource for keys. */
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
    hooks: {
      before: {
        create(input, { caller, now, returnOnce }) {
          assertCanGrantScopes(scopeList(input), caller);
          // A replacement has the owner of the old key, or none.
          requireOwnKey(isReplacement(input) ? input.ownerId : (input.ownerId ?? undefined), caller);
          const key = generate(input.type ?? "secret", environment);
          returnOnce({ key, warning: keyWarning });
          return {
            prefix: key.slice(0, prefixLength),
            keyHash: keyHash(key),
            rateLimit: givenQuota(input, standardQuota, caller),
            ownerId: input.ownerId ?? (isReplacement(input) ? null : (caller.userId ?? null)),
            expiresAt: input.expiresAt ?? defaultExpiry(now),
          };
        },
        update(changes, { caller, current }) {
          requireOwnKey(current.ownerId, caller);
          requireUsable(current);
          assertCanGrantScopes(scopeList(changes), caller);
          const rateLimit = asQuota(changes.rateLimit);
          const quota = rateLimit === null ? standardQuota : rateLimit;
          if (quota) requireGivableQuota(quota, caller, asQuota(current.rateLimit) ?? standardQuota);
          return { rateLimit };
        },
        delete({ caller, current }) {
          requireOwnKey(current.ownerId, caller);
        },
      },
      after: {
        // Of a replacement its owner hears together with the key that it replaces.
        create: async (key, context) =>
          key.rotatedFromId === null ? notices.created(notifiedKey(key), context) : undefined,
        delete: (key, context) => notices.revoked(notifiedKey(key), context),
      },
    },
    actions: {
      rotations: {
        verb: "rotate",
        input: rotationInput("key"),
        run: (current, { overlapSeconds }, context) =>
          rotate(apiKeys, notices, current, Number(overlapSeconds), context),
      },
    },
  });
  return apiKeys;
}

/** A replacement with the same name, scopes and quota; the old key goes on for the overlap. */
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
    // Its owner is told now when it ends, and not once more before.
    expiryNoticeAt: now,
  });
  await notices.rotated(notifiedKey(old), notifiedKey(replacement), context);
  return replacement;
}

/** The life of a key that was rotated is cut short; what it was meant to be is seen in its replacement. */
async function lastReplacement(apiKeys: ApiKeys, key: KeyRow, rows: Rows): Promise<KeyRow> {
  let last = key;
  while (last.rotatedToId !== null) {
    const next = await rows.get(apiKeys, last.rotatedToId);
    if (!next) return last;
    last = next;
  }
  return last;
}

/** What only the server gives is among the values of a new row, too. */
function isReplacement(input: object): boolean {
  return "rotatedFromId" in input;
}

function notifiedKey({ id, name, prefix, scopes, expiresAt, ownerId }: KeyRow): NotifiedKey {
  return { id, name, prefix, scopes: scopeList({ scopes }), expiresAt, ownerId };
}

/** The schema of the field has seen that it is a list of texts. */
function scopeList({ scopes }: { readonly scopes?: unknown }): readonly string[] {
  return (scopes ?? []) as readonly string[];
}

/**
 * The quota of a key that is made. One that is made with a smaller quota than the standard one has that of its maker,
 * unless another is given; a replacement has that of the key which it replaces.
 */
function givenQuota(
  input: { readonly rateLimit?: unknown },
  defaultQuota: Quota,
  caller: Caller,
): Quota | null {
  const requested = asQuota(input.rateLimit) ?? null;
  if (requested === null && !isReplacement(input) && !isQuotaWithin(defaultQuota, caller.quota))
    return caller.quota ?? null;
  requireGivableQuota(requested ?? defaultQuota, caller);
  return requested;
}

/** A quota as it is kept, with its window; the schema of the field has seen the rest. */
function asQuota(value: unknown): Quota | null | undefined {
  if (value === undefined || value === null) return value;
  const { limit, windowSeconds = 60 } = value as { limit: number; windowSeconds?: number };
  return { limit, windowSeconds };
}
