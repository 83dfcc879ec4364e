// Owners of keys that will soon expire are told, each key once: the mark on the key and the notice are one
// transaction, so that of several processes one does it.

import { sql } from "kysely";
import type { Model, ResourceModel } from "../declare/model.ts";
import { select, wholeRow } from "../plan/selection.ts";
import { rowJson } from "../store/compile-row.ts";
import type { Statement, Transaction } from "../store/database.ts";
import type { OwnIndex } from "../store/schema.ts";
import { compile, slot } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import type { ExpiryNotices, ToldKey } from "./key-notices.ts";
import { users } from "./user.ts";

/** Keys of one transaction; the writers of requests wait for no longer than that takes. */
const mostAtOnce = 100;

/** Where the keys of all tenants are found whose owners were not told yet. */
export const expiryIndexes: readonly OwnIndex[] = [
  {
    table: "api_keys",
    name: "portico_api_keys_expiry_notice_at_expires_at",
    columns: [
      { name: "expiry_notice_at", isNullable: true },
      { name: "expires_at", isNullable: false },
    ],
    isUnique: false,
  },
];

interface Window {
  readonly now: string;
  readonly until: string;
}

export class ExpiryWatch {
  readonly #store: Store;
  readonly #notices: ExpiryNotices;
  readonly #soonMs: number;
  readonly #people: ResourceModel;
  readonly #isAny: Statement<Window>;
  readonly #mark: Statement<Window>;

  /** @param soonMs how long before its end a key begins to expire soon */
  constructor(store: Store, model: Model, notices: ExpiryNotices, soonMs: number) {
    this.#store = store;
    this.#notices = notices;
    this.#soonMs = soonMs;
    this.#people = model.resource.get(users.name)!;
    const keys = model.resource.get("apiKey")!;
    const { builder, lockFreeRows } = store.dialect;
    const now = slot(({ now }: Window) => now);
    const isUntold = sql`expiry_notice_at is null and revoked_at is null
      and expires_at > ${now} and expires_at <= ${slot(({ until }: Window) => until)}`;
    const told = select(
      ["id", "name", "prefix", "scopes", "expiresAt", "ownerId"].map((name) => keys.attribute.get(name)!),
      [],
    );
    this.#isAny = compile(builder, sql`select 1 from api_keys where ${isUntold} limit 1`);
    this.#mark = compile(
      builder,
      sql`with soon as (select tenant_id, id from api_keys where ${isUntold}
          order by expires_at limit ${sql.lit(mostAtOnce)}${lockFreeRows})
        update api_keys set expiry_notice_at = ${now}
        where (tenant_id, id) in (select tenant_id, id from soon)
        returning tenant_id, ${rowJson(store.dialect, undefined, told)}`,
    );
  }

  /** Tells the owners of all keys that will soon expire and were not told yet. */
  async look(): Promise<void> {
    for (let marked = mostAtOnce; marked === mostAtOnce; ) {
      const now = Date.now();
      const window = {
        now: new Date(now).toISOString(),
        until: new Date(now + this.#soonMs).toISOString(),
      };
      // Most looks find nothing, and then no write waits for this one.
      if ((await this.#store.database.query(this.#isAny, window)).length === 0) return;
      marked = await this.#store.transaction((session) => this.#tellSome(session, window));
    }
  }

  async #tellSome(session: Transaction, window: Window): Promise<number> {
    const rows = await session.query(this.#mark, window);
    for (const [tenantId, text] of rows as readonly (readonly [string, string])[]) {
      const key = JSON.parse(text) as ToldKey;
      const owner = await this.#owner(session, tenantId, key.ownerId);
      if (owner) await this.#notices.expiringSoon(session, tenantId, key, owner);
    }
    return rows.length;
  }

  async #owner(
    session: Transaction,
    tenantId: string,
    id: string | null,
  ): Promise<{ name: string; email: string } | undefined> {
    if (id === null) return undefined;
    const read = { resource: this.#people, selection: wholeRow(this.#people), id, conditions: [] };
    const text = await this.#store.get(tenantId, read, session);
    return text === undefined ? undefined : JSON.parse(text);
  }
}
