// Finds the record behind a key's prefix as the database has it now: a key that was revoked a moment ago, by
// whichever process, is revoked here too. Nothing is kept.

import { sql } from "kysely";
import type { Quota } from "../../declare/caller.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import type { ColumnValues, Statement } from "../../store/database.ts";
import { compile, parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import type { KeyType } from "./format.ts";
import { everyScope } from "./rules.ts";

export interface KeyRecord {
  /** Whether there is a key with this prefix; what is told of one that there is not is made up, and opens nothing. */
  readonly isKnown: boolean;
  readonly id: string;
  readonly tenantId: string;
  readonly ownerId: string | undefined;
  readonly prefix: string;
  readonly keyHash: string;
  readonly type: KeyType;
  readonly scopes: ReadonlySet<string>;
  /** Its own quota; undefined where the standard one holds. */
  readonly quota: Quota | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly isRevoked: boolean;
}

/** Different texts of one column kept parsed; keys share few. */
const maxCached = 1_000;

/** What the texts of a column mean, each worked out once. */
class ParseCache<Value> {
  readonly #cache = new BoundedMap<string, Value>(maxCached);
  readonly #parse: (text: string) => Value;

  constructor(parse: (text: string) => Value) {
    this.#parse = parse;
  }

  get(text: string): Value {
    const cached = this.#cache.get(text);
    if (cached !== undefined) return cached;
    const value = this.#parse(text);
    this.#cache.set(text, value);
    return value;
  }
}

interface Batch {
  readonly prefixes: string[];
  readonly records: Promise<ReadonlyMap<string, KeyRecord>>;
}

/** What an unknown prefix has for a record, so that it takes as long to refuse as a known one. */
const dummyKey = {
  id: "api_key_00000000000000000000000000",
  tenant_id: "tenant_00000000000000000000000000",
  key_hash: "0".repeat(64),
  type: "secret",
  scopes: "[]",
  expires_at: "2000-01-01T00:00:00.000Z",
};
const columns = [...Object.keys(dummyKey), "owner_id", "rate_limit", "revoked_at"];
const dummyColumns: ColumnValues = [null, ...Object.values(dummyKey), null, null, null];

export class KeyLookup {
  readonly #store: Store;
  readonly #one: Statement<string>;
  readonly #many: Statement<readonly string[]>;
  readonly #scopes: ParseCache<ReadonlySet<string>>;
  readonly #quotas = new ParseCache((text): Quota => JSON.parse(text));
  #batch: Batch | undefined;

  /** @param scopes every scope there is, which a key with `*` has */
  constructor(store: Store, scopes: readonly string[]) {
    this.#store = store;
    const every = new Set([...scopes, everyScope]);
    this.#scopes = new ParseCache((text): ReadonlySet<string> => {
      const own: string[] = JSON.parse(text);
      return own.includes(everyScope) ? every : new Set(own);
    });
    const { builder } = store.dialect;
    const wanted = parameter((prefix: string) => prefix);
    const filled = Object.entries(dummyKey).map(
      ([name, value]) => sql`coalesce(${sql.ref(`k.${name}`)}, ${sql.lit(value)})`,
    );
    // In the process it costs nothing to have the database make up what is not there.
    this.#one = compile(
      builder,
      sql`select w.prefix, k.id, ${sql.join(filled)}, k.owner_id, k.rate_limit, k.revoked_at
        from (select ${wanted} as prefix) as w left join api_keys as k on k.prefix = w.prefix`,
    );
    this.#many = compile(
      builder,
      sql`select prefix, id, ${sql.join(columns.map((name) => sql.ref(name)))} from api_keys
        where prefix = any(${parameter((prefixes: readonly string[]) => prefixes)})`,
    );
  }

  /** The record of the key that begins with these twelve characters. */
  async find(prefix: string): Promise<KeyRecord> {
    if (this.#store.database.isRemote) return this.#findBatched(prefix);
    const [row] = await this.#store.database.query(this.#one, prefix);
    return this.#record(row!);
  }

  /** Across a network, the keys of all requests that were received together are one query. */
  async #findBatched(prefix: string): Promise<KeyRecord> {
    this.#batch ??= this.#startBatch();
    this.#batch.prefixes.push(prefix);
    return (await this.#batch.records).get(prefix) ?? this.#record([prefix, ...dummyColumns]);
  }

  #startBatch(): Batch {
    const prefixes: string[] = [];
    const records = new Promise((resolve) => setImmediate(resolve)).then(async () => {
      this.#batch = undefined;
      const rows = await this.#store.database.query(this.#many, prefixes);
      return new Map(rows.map((row) => [row[0] as string, this.#record(row)]));
    });
    return { prefixes, records };
  }

  #record(row: ColumnValues): KeyRecord {
    // The columns of the statement above: texts, but for what PostgreSQL's driver turns into dates.
    const [prefix, foundId, id, tenantId, keyHash, type, scopes, expiresAt, ownerId, rateLimit, revokedAt] =
      row as readonly string[];
    return {
      isKnown: foundId !== null,
      prefix: prefix!,
      id: id!,
      tenantId: tenantId!,
      ownerId: ownerId ?? undefined,
      keyHash: keyHash!,
      type: type as KeyType,
      scopes: this.#scopes.get(scopes!),
      quota: rateLimit ? this.#quotas.get(rateLimit) : undefined,
      expiresAt: new Date(expiresAt!).getTime(),
      isRevoked: revokedAt !== null,
    };
  }
}
