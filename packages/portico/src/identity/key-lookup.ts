// Finds the record behind a key's prefix as the database has it now: a key that was revoked a moment ago, by
// whichever process, is revoked here too. Nothing is kept.

import { sql } from "kysely";
import type { Quota } from "../declare/caller.ts";
import { BoundedMap } from "../plan/bounded-map.ts";
import type { ColumnValues, Statement } from "../store/database.ts";
import { compile, slot } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import type { KeyType } from "./api-key.ts";

export interface KeyRecord {
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
const mostParsed = 1_000;

/** What the texts of a column mean, each worked out once. */
class Parsed<Value> {
  readonly #kept = new BoundedMap<string, Value>(mostParsed);
  readonly #parse: (text: string) => Value;

  constructor(parse: (text: string) => Value) {
    this.#parse = parse;
  }

  get(text: string): Value {
    const known = this.#kept.get(text);
    if (known !== undefined) return known;
    const made = this.#parse(text);
    this.#kept.set(text, made);
    return made;
  }
}

interface Batch {
  readonly prefixes: string[];
  readonly records: Promise<ReadonlyMap<string, KeyRecord>>;
}

export class KeyLookup {
  readonly #store: Store;
  readonly #one: Statement<string>;
  readonly #many: Statement<readonly string[]>;
  readonly #scopes = new Parsed((text): ReadonlySet<string> => new Set(JSON.parse(text) as string[]));
  readonly #quotas = new Parsed((text): Quota => JSON.parse(text));
  #batch: Batch | undefined;

  constructor(store: Store) {
    this.#store = store;
    const columns = sql`select prefix, id, tenant_id, owner_id, key_hash, type, scopes, rate_limit, expires_at, revoked_at from api_keys`;
    this.#one = compile(
      store.dialect.builder,
      sql`${columns} where prefix = ${slot((prefix: string) => prefix)}`,
    );
    this.#many = compile(
      store.dialect.builder,
      sql`${columns} where prefix = any(${slot((prefixes: readonly string[]) => prefixes)})`,
    );
  }

  /** The record of the key that begins with these twelve characters. */
  async find(prefix: string): Promise<KeyRecord | undefined> {
    if (this.#store.database.isRemote) return this.#findWithOthers(prefix);
    const [row] = await this.#store.database.query(this.#one, prefix);
    return row && this.#record(row);
  }

  /** Across a network, the keys of all requests that were received together are one query. */
  async #findWithOthers(prefix: string): Promise<KeyRecord | undefined> {
    this.#batch ??= this.#startBatch();
    this.#batch.prefixes.push(prefix);
    return (await this.#batch.records).get(prefix);
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
    const [prefix, id, tenantId, ownerId, keyHash, type, scopes, rateLimit, expiresAt, revokedAt] =
      row as readonly string[];
    return {
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
