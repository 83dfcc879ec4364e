// Owners of keys that will soon expire are told, each key once: the mark on the key and the notice are one
// transaction of their own, so that of several processes one does it, and a key that fails holds up no other.

import { sql } from "kysely";
import { TransactionalQueue } from "../../jobs/transactional-queue.ts";
import type { Report } from "../../lib/report.ts";
import type { KeyExpiryEmails, NotifiedKey } from "../../mail/key-emails.ts";
import type { Model, ResourceModel } from "../../model/model.ts";
import { select, wholeRow } from "../../query/selection.ts";
import { rowJson } from "../../store/compile/row.ts";
import type { Transaction } from "../../store/database.ts";
import { defineQuery, type ParametersOf, type Query } from "../../store/own-tables/query.ts";
import type { OwnIndex } from "../../store/schema/ddl.ts";
import type { Store } from "../../store/store.ts";
import { users } from "../users/resource.ts";
import { apiKeysTable } from "./resource.ts";

const keysOfPage = 1_000;

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

/** Keys whose owners are to be told, after the one with this id. */
interface Page {
  readonly now: string;
  readonly until: string;
  readonly after: string;
}

interface Due {
  readonly tenantId: string;
  readonly id: string;
}

const selectDue = defineQuery([apiKeysTable], (db, { now, until, after }: ParametersOf<Page>) =>
  db
    .selectFrom("api_keys")
    .select(["tenant_id as tenantId", "id"])
    .where("expiry_notice_at", "is", null)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .where("expires_at", "<=", until)
    .where("id", ">", after)
    .orderBy("id")
    .limit(sql.lit(keysOfPage)),
);

export class ExpiryNotifier {
  readonly #store: Store;
  readonly #notices: Pick<KeyExpiryEmails, "expiringSoon">;
  readonly #soonMs: number;
  readonly #users: ResourceModel;
  readonly #markTold: Query<{ readonly key: string }, Due & { readonly now: string }>;
  readonly #queue: TransactionalQueue<Due>;

  /** @param soonMs how long before its end a key begins to expire soon */
  constructor(
    store: Store,
    model: Model,
    notices: Pick<KeyExpiryEmails, "expiringSoon">,
    soonMs: number,
    report: Report,
  ) {
    this.#store = store;
    this.#notices = notices;
    this.#soonMs = soonMs;
    this.#users = model.resource.get(users.name)!;
    const keys = model.resource.get("apiKey")!;
    const selection = select(
      ["id", "name", "prefix", "scopes", "expiresAt", "ownerId"].map((name) => keys.attribute.get(name)!),
      [],
    );
    const markTold = defineQuery([apiKeysTable], (db, due: ParametersOf<Due & { now: string }>, dialect) =>
      db
        .updateTable("api_keys")
        .set({ expiry_notice_at: due.now })
        .where("tenant_id", "=", due.tenantId)
        .where("id", "=", due.id)
        .where("expiry_notice_at", "is", null)
        .where("revoked_at", "is", null)
        .returning(rowJson(dialect, undefined, selection).as("key")),
    );
    this.#markTold = markTold(store);
    const queue = {
      page: (after?: Due) => this.#next(after),
      idOf: ({ id }: Due) => id,
      process: (due: Due) => store.transaction((session) => this.#tell(session, due)),
    };
    this.#queue = new TransactionalQueue(
      queue,
      "telling the owner of a key that it will soon expire",
      report,
    );
  }

  /** Tells the owners of all keys that will soon expire and were not told yet. */
  async poll(): Promise<void> {
    await this.#queue.run();
  }

  async #next(after: Due | undefined): Promise<Due[]> {
    const now = Date.now();
    const [from, until] = [now, now + this.#soonMs].map((moment) => new Date(moment).toISOString());
    const page = { now: from!, until: until!, after: after?.id ?? "" };
    return selectDue(this.#store).all(this.#store.database, page);
  }

  async #tell(session: Transaction, due: Due): Promise<void> {
    const row = await this.#markTold.first(session, { ...due, now: new Date().toISOString() });
    // Another process has told the owner meanwhile.
    if (!row) return;
    const key: NotifiedKey = JSON.parse(row.key);
    const owner = await this.#owner(session, due.tenantId, key.ownerId);
    if (owner) await this.#notices.expiringSoon(session, due.tenantId, key, owner);
  }

  async #owner(
    session: Transaction,
    tenantId: string,
    id: string | null,
  ): Promise<{ name: string; email: string } | undefined> {
    if (id === null) return undefined;
    const read = { resource: this.#users, selection: wholeRow(this.#users), id, conditions: [] };
    const text = await this.#store.get(tenantId, read, session);
    return text === undefined ? undefined : JSON.parse(text);
  }
}
