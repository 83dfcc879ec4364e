// Emails the owner of a key that will expire soon, once for each key. Marking the key and queueing the email are one
// transaction, so only one of several processes sends it, and a failure affects no other key.

import { sql } from "kysely";
import { TransactionalQueue } from "../../jobs/transactional-queue.ts";
import type { Report } from "../../lib/report.ts";
import type { KeyExpiryEmails, NotifiedKey } from "../../mail/key-emails.ts";
import type { Model, ResourceModel } from "../../model/model.ts";
import { select, wholeRow } from "../../query/selection.ts";
import { rowJson } from "../../store/compile/row.ts";
import type { Transaction } from "../../store/database.ts";
import { defineQuery, type ParametersOf, type Query } from "../../store/own-tables/query.ts";
import type { OwnIndex } from "../../store/schema/table.ts";
import type { Store } from "../../store/store.ts";
import { users } from "../users/resource.ts";
import { apiKeysTable } from "./resource.ts";

const keysOfPage = 1_000;

/** Index for finding keys of all tenants whose owners were not notified yet. */
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

/** Selects keys to notify about, after the one with this id. */
interface DueKeysQuery {
  readonly now: string;
  readonly until: string;
  readonly after: string;
}

interface Due {
  readonly tenantId: string;
  readonly id: string;
}

const selectDue = defineQuery([apiKeysTable], (db, { now, until, after }: ParametersOf<DueKeysQuery>) =>
  db
    .selectFrom("api_keys")
    .select(["tenant_no as tenantId", "id"])
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
  readonly #markNotified: Query<{ readonly key: string }, Due & { readonly now: string }>;
  readonly #queue: TransactionalQueue<Due>;

  /** @param soonMs how long before its expiry an owner is notified */
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
    const markNotified = defineQuery(
      [apiKeysTable],
      (db, due: ParametersOf<Due & { now: string }>, dialect) =>
        db
          .updateTable("api_keys")
          .set({ expiry_notice_at: due.now })
          .where("tenant_no", "=", due.tenantId)
          .where("id", "=", due.id)
          .where("expiry_notice_at", "is", null)
          .where("revoked_at", "is", null)
          .returning(rowJson(dialect, undefined, selection).as("key")),
    );
    this.#markNotified = markNotified(store);
    const queue = {
      page: (after?: Due) => this.#next(after),
      idOf: ({ id }: Due) => id,
      process: (due: Due) => store.transaction((session) => this.#notify(session, due)),
    };
    this.#queue = new TransactionalQueue(queue, "notifying the owner of a key that expires soon", report);
  }

  /** Notifies the owners of all keys that expire soon and were not notified about yet. */
  async poll(): Promise<void> {
    await this.#queue.run();
  }

  async #next(after: Due | undefined): Promise<Due[]> {
    const now = Date.now();
    const [from, until] = [now, now + this.#soonMs].map((time) => new Date(time).toISOString());
    const page = { now: from!, until: until!, after: after?.id ?? "" };
    return selectDue(this.#store).all(this.#store.database, page);
  }

  async #notify(session: Transaction, due: Due): Promise<void> {
    const row = await this.#markNotified.first(session, { ...due, now: new Date().toISOString() });
    // Another process has notified the owner meanwhile.
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
