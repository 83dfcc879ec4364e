// Finds the record behind a key's prefix, always as the database has it now: a key that was revoked a moment
// ago, by whichever process, is revoked here too. Across a network, the requests of one tick share one query.

import { sql } from "kysely";
import { BoundedMap } from "../store/bounded-map.ts";
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
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly isRevoked: boolean;
}

/** Distinct lists of scopes kept parsed. */
const mostScopeLists = 1_000;

type Waiting = { readonly prefixes: Set<string>; readonly found: Promise<ReadonlyMap<string, KeyRecord>> };

export class KeyLookup {
  readonly #store: Store;
  readonly #one: Statement<string>;
  readonly #many: Statement<readonly string[]>;
  readonly #scopes = new BoundedMap<string, ReadonlySet<string>>(mostScopeLists);
  #waiting: Waiting | undefined;

  constructor(store: Store) {
    this.#store = store;
    const columns = sql`select prefix, id, tenant_id, owner_id, key_hash, type, scopes, expires_at, revoked_at from api_keys`;
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
    if (this.#store.database.isRemote) return (await this.#findTogether(prefix)).get(prefix);
    const [row] = await this.#store.database.query(this.#one, prefix);
    return row && this.#record(row);
  }

  #findTogether(prefix: string): Promise<ReadonlyMap<string, KeyRecord>> {
    this.#waiting ??= this.#startWaiting();
    this.#waiting.prefixes.add(prefix);
    return this.#waiting.found;
  }

  #startWaiting(): Waiting {
    const prefixes = new Set<string>();
    const found = new Promise((resolve) => setImmediate(resolve)).then(async () => {
      // Whoever asks from here on waits for the next query: this one may not see what was just revoked.
      this.#waiting = undefined;
      const rows = await this.#store.database.query(this.#many, [...prefixes]);
      return new Map(rows.map((row) => [row[0] as string, this.#record(row)]));
    });
    return { prefixes, found };
  }

  #record(row: ColumnValues): KeyRecord {
    // The columns of the statement above: texts, but for what PostgreSQL's driver turns into dates.
    const [prefix, id, tenantId, ownerId, keyHash, type, scopes, expiresAt, revokedAt] =
      row as readonly string[];
    return {
      prefix: prefix!,
      id: id!,
      tenantId: tenantId!,
      ownerId: ownerId ?? undefined,
      keyHash: keyHash!,
      type: type as KeyType,
      scopes: this.#scopeSet(scopes!),
      expiresAt: new Date(expiresAt!).getTime(),
      isRevoked: revokedAt !== null,
    };
  }

  #scopeSet(text: string): ReadonlySet<string> {
    const known = this.#scopes.get(text);
    if (known) return known;
    const made: ReadonlySet<string> = new Set(JSON.parse(text) as string[]);
    this.#scopes.set(text, made);
    return made;
  }
}
