// Reads the record of a key from the database for each request. Records are not cached, so a revocation by any process
// takes effect at once.

import { sql } from "kysely";
import type { Quota } from "../../declare/caller.ts";
import { everyScope } from "../../declare/roles.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import type { Model } from "../../model/model.ts";
import { defineQuery, type ParametersOf, type Query } from "../../store/own-tables/query.ts";
import { parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import { type EffectiveScopes, RoleScopes } from "../role-scopes.ts";
import { users } from "../users/resource.ts";
import type { KeyType } from "./format.ts";
import { apiKeysTable } from "./resource.ts";

export interface KeyRecord {
  /** Whether a key with this prefix exists. If not, the other members are those of a dummy. */
  readonly isKnown: boolean;
  readonly id: string;
  readonly tenantId: string;
  readonly ownerId: string | null;
  /** The role of the owner; null for a key without one. */
  readonly role: string | null;
  /** Whether the owner was deactivated. */
  readonly isOwnerInactive: boolean;
  readonly prefix: string;
  readonly keyHash: string;
  readonly type: KeyType;
  /** Its scopes that the role of its owner includes. */
  readonly scopes: EffectiveScopes;
  /** The key's own quota; undefined if the standard one applies. */
  readonly quota: Quota | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly isRevoked: boolean;
}

/** Distinct quotas whose parsed form is cached; keys share few of them. */
const maxCachedQuotas = 1_000;

interface Batch {
  readonly prefixes: string[];
  readonly records: Promise<ReadonlyMap<string, KeyRecord>>;
}

/** The record of an unknown prefix, so that refusing it takes as long as refusing a known one. */
const dummyKey = {
  id: "api_key_00000000000000000000000000",
  key_hash: "0".repeat(64),
  type: "secret",
  scopes: "[]",
  expires_at: "2000-01-01T00:00:00.000Z",
};
const dummyTenantId = "tenant_00000000000000000000000000";
const dummyNames = Object.keys(dummyKey) as readonly (keyof typeof dummyKey)[];

interface KeyRow extends Readonly<Record<keyof typeof dummyKey, string | null>> {
  readonly prefix: string | null;
  /** Null if the key is unknown. */
  readonly known_id: string | null;
  readonly tenant_no: string | null;
  readonly owner_id: string | null;
  readonly role: string | null;
  readonly active: boolean | null;
  readonly rate_limit: string | null;
  readonly revoked_at: string | null;
}

const unknownKey: Omit<KeyRow, "prefix"> = {
  ...dummyKey,
  known_id: null,
  tenant_no: null,
  owner_id: null,
  role: null,
  active: null,
  rate_limit: null,
  revoked_at: null,
};

/** What every statement selects, besides the prefix and what may come from the dummy. */
const recordColumns = [
  "key.id as known_id",
  "key.tenant_no",
  "key.owner_id",
  "key.rate_limit",
  "key.revoked_at",
  "owner.role",
  "owner.active",
] as const;
const storedColumns = ["key.prefix", ...dummyNames.map((name) => `key.${name}` as const)] as const;

/** The owner is part of each statement, so a changed role counts at the next request. */
const isOwner = sql<boolean>`owner.tenant_no = key.tenant_no and owner.id = key.owner_id`;

/** On SQLite the database fills in the dummy, which takes no longer than returning a row. */
const selectKey = defineQuery([apiKeysTable, users], (db, input: ParametersOf<{ prefix: string }>) =>
  db
    .selectFrom(db.selectNoFrom(input.prefix.as("prefix")).as("requested"))
    .leftJoin("api_keys as key", "key.prefix", "requested.prefix")
    .leftJoin("users as owner", (join) => join.on(isOwner))
    .select(recordColumns)
    .select("requested.prefix")
    .select(({ fn, ref }) =>
      dummyNames.map((name) => fn.coalesce(ref(`key.${name}`), sql.lit(dummyKey[name])).as(name)),
    ),
);

const selectKeys = defineQuery(
  [apiKeysTable, users],
  (db, input: ParametersOf<{ prefixes: readonly string[] }>) =>
    db
      .selectFrom("api_keys as key")
      .leftJoin("users as owner", (join) => join.on(isOwner))
      .select(recordColumns)
      .select(storedColumns)
      .where("key.prefix", "=", sql<string>`any(${input.prefixes})`),
);

interface KeyId {
  readonly tenantId: string;
  readonly id: string;
}

/** Rotations that are followed. */
const maxRotations = 1_000;

/** The last usable key among a key and those that have replaced it one after another. */
const selectLatest = defineQuery([apiKeysTable, users], (db, { tenantId, id }: ParametersOf<KeyId>) =>
  db
    .withRecursive("chain", (recursive) =>
      recursive
        .selectFrom("api_keys")
        .select(["id", "rotated_to_id", sql<number>`0`.as("rotations")])
        .where("tenant_no", "=", tenantId)
        .where("id", "=", id)
        .unionAll(
          recursive
            .selectFrom("chain")
            .innerJoin("api_keys as next", "next.id", "chain.rotated_to_id")
            .select(["next.id", "next.rotated_to_id", sql<number>`rotations + 1`.as("rotations")])
            .where("next.tenant_no", "=", tenantId)
            .where("rotations", "<", sql.lit(maxRotations)),
        ),
    )
    .selectFrom("chain")
    .innerJoin("api_keys as key", "key.id", "chain.id")
    .leftJoin("users as owner", (join) => join.on(isOwner))
    .select(recordColumns)
    .select(storedColumns)
    .where("key.tenant_no", "=", tenantId)
    .where("key.type", "=", sql.lit("secret"))
    .where("key.revoked_at", "is", null)
    .where(
      "key.expires_at",
      ">",
      parameter(() => new Date().toISOString()),
    )
    .orderBy("rotations", "desc")
    .limit(sql.lit(1)),
);

export class KeyLookup {
  readonly #store: Store;
  readonly #one: Query<KeyRow, { prefix: string }>;
  readonly #many: Query<KeyRow, { prefixes: readonly string[] }>;
  readonly #scopes: RoleScopes;
  readonly #quotas = new BoundedMap<string, Quota>(maxCachedQuotas);
  #batch: Batch | undefined;

  constructor(store: Store, model: Pick<Model, "scopes" | "roles">) {
    this.#store = store;
    const every = new Set([...model.scopes, everyScope]);
    this.#scopes = new RoleScopes(model, (text): ReadonlySet<string> => {
      const own: string[] = JSON.parse(text);
      return own.includes(everyScope) ? every : new Set(own);
    });
    this.#one = selectKey(store);
    this.#many = selectKeys(store);
  }

  /** @param prefix the first `prefixLength` characters of the key */
  async find(prefix: string): Promise<KeyRecord> {
    if (this.#store.database.isRemote) return this.#findBatched(prefix);
    // The statement returns one row for any prefix.
    return this.#record((await this.#one.first(this.#store.database, { prefix }))!);
  }

  /**
   * The key with this id, or the one that has replaced it; undefined if neither can be used, because it was revoked or has
   * expired, or because its owner was deactivated.
   */
  async findLatest(tenantId: string, id: string): Promise<KeyRecord | undefined> {
    const row = await selectLatest(this.#store).first(this.#store.database, { tenantId, id });
    const record = row && this.#record(row);
    return record?.isOwnerInactive ? undefined : record;
  }

  /** Over a network, the keys of all requests that were received together are read by one query. */
  async #findBatched(prefix: string): Promise<KeyRecord> {
    this.#batch ??= this.#startBatch();
    this.#batch.prefixes.push(prefix);
    return (await this.#batch.records).get(prefix) ?? this.#record({ ...unknownKey, prefix });
  }

  #startBatch(): Batch {
    const prefixes: string[] = [];
    const records = new Promise((resolve) => setImmediate(resolve)).then(async () => {
      this.#batch = undefined;
      const rows = await this.#many.all(this.#store.database, { prefixes });
      return new Map(rows.map((row) => [row.prefix!, this.#record(row)]));
    });
    return { prefixes, records };
  }

  #record(row: KeyRow): KeyRecord {
    return {
      isKnown: row.known_id !== null,
      prefix: row.prefix!,
      id: row.id!,
      tenantId: row.tenant_no ?? dummyTenantId,
      ownerId: row.owner_id,
      role: row.role,
      isOwnerInactive: row.active === false,
      keyHash: row.key_hash!,
      type: row.type as KeyType,
      scopes: this.#scopes.of(row.scopes!, row.role),
      quota: row.rate_limit ? this.#quotaOf(row.rate_limit) : undefined,
      expiresAt: Date.parse(row.expires_at!),
      isRevoked: row.revoked_at !== null,
    };
  }

  #quotaOf(text: string): Quota {
    const cached = this.#quotas.get(text);
    if (cached !== undefined) return cached;
    const quota: Quota = Object.freeze(JSON.parse(text));
    this.#quotas.set(text, quota);
    return quota;
  }
}
