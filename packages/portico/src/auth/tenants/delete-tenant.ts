// Deletes a tenant with everything that belongs to it, in chunks, while servers run. Its credentials go first, so that
// nothing is added meanwhile; the tenant itself goes last, so that an interrupted deletion can be repeated.

import { setTimeout as sleep } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { removeOfTenant } from "../../files/table.ts";
import { ConstraintError, type Session, type Statement } from "../../store/database.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import type { Table } from "../../store/schema/table.ts";
import { compile, parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import { tenantsTable } from "../../store/tenants.ts";
import { apiKeysTable } from "../api-keys/resource.ts";
import { oauthClients } from "../clients/resource.ts";
import { deleteAccountRecords } from "../tokens/oauth-record-statements.ts";
import { usersTable } from "../users/fields.ts";

/** Rows that one transaction deletes. SQLite has one writer, and a request must not wait long for it. */
const chunkSize = 500;
/**
 * Longer than a request goes on that was authenticated before, than servers keep what requests leave in memory, and the
 * status of an access token.
 */
const settleMs = 3_500;
const maxAttempts = 5;

interface OfTenant {
  readonly tenantId: string;
}

const revokeKeys = defineQuery(
  [apiKeysTable],
  (db, { tenantId, now }: ParametersOf<OfTenant & { now: string }>) =>
    db
      .updateTable("api_keys")
      .set({ revoked_at: now })
      .where("tenant_no", "=", tenantId)
      .where("revoked_at", "is", null),
);

const closeClients = defineQuery([oauthClients], (db, { tenantId }: ParametersOf<OfTenant>) =>
  db
    .updateTable("oauth_clients")
    .set({ scopes: sql.lit("[]") })
    .where("tenant_no", "=", tenantId),
);

const nextUsers = defineQuery(
  [usersTable],
  (db, { tenantId, after }: ParametersOf<OfTenant & { after: string }>) =>
    db
      .selectFrom("users")
      .select("id")
      .where("tenant_no", "=", tenantId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(sql.lit(chunkSize)),
);

const deactivate = defineQuery(
  [usersTable],
  (db, { tenantId, id }: ParametersOf<OfTenant & { id: string }>) =>
    db
      .updateTable("users")
      .set({ active: sql.lit(false) })
      .where("tenant_no", "=", tenantId)
      .where("id", "=", id),
);

const deleteRow = defineQuery([tenantsTable], (db, { id }: ParametersOf<{ id: string }>) =>
  db.deleteFrom("tenants").where("id", "=", id),
);

/**
 * @param tables all tables of the database: a referenced one before those that refer to it
 * @param onProgress called after each chunk with the number of rows deleted so far
 * @returns the number of deleted rows
 */
export async function deleteTenant(
  store: Store,
  tables: readonly Table[],
  tenantId: string,
  onProgress: (rows: number) => void = () => {},
): Promise<number> {
  const no = await store.tenants.findNumber(store.database, tenantId);
  if (no === null) return 0;
  await closeCredentials(store, tenantId);
  await sleep(settleMs);
  const owned = tables.filter(({ columns }) => columns.some(({ name }) => name === tenantColumn));
  const deletions = owned.toReversed().map((table) => new TableDeletion(store, table, owned));
  let count = 0;
  const deleteRows = async (): Promise<void> => {
    for (const deletion of deletions)
      for await (const rows of deletion.chunks(no)) {
        if (!deletion.isIndex) count += rows;
        onProgress(count);
      }
    // Nothing can be added by a new request, and a late one creates no credential without its tenant (existing-tenant.ts).
    await store.transaction(async (session) => {
      // Their contents are deleted once no row of the tenant has them.
      await removeOfTenant(store).run(session, { tenant: tenantId, now: new Date().toISOString() });
      await deleteRow(store).run(session, { id: tenantId });
      for (const deletion of deletions) count += await deletion.rest(session, no);
    });
  };
  for (let attempt = 1; ; attempt += 1)
    try {
      await deleteRows();
      return count;
    } catch (error) {
      // Another process deletes the same tenant, or a request that began before has added a row that refers to others.
      if (!(error instanceof ConstraintError) || attempt === maxAttempts) throw error;
    }
}

/** Revokes all keys and tokens, and ends all sessions. */
async function closeCredentials(store: Store, tenantId: string): Promise<void> {
  const now = new Date().toISOString();
  await store.transaction(async (session) => {
    await revokeKeys(store).run(session, { tenantId, now });
    await closeClients(store).run(session, { tenantId });
  });
  for (let after = ""; ; ) {
    const users = await nextUsers(store).all(store.database, { tenantId, after });
    if (users.length === 0) return;
    await store.transaction(async (session) => {
      for (const { id } of users) {
        await deactivate(store).run(session, { tenantId, id });
        await deleteAccountRecords(store).run(session, { accountId: id });
      }
    });
    after = users.at(-1)!.id;
  }
}

const tenantColumn = "tenant_no";

/** Deletes the rows of a tenant in one table. */
class TableDeletion {
  /** Whether its rows are entries of an index, which do not count as rows. */
  readonly isIndex: boolean;
  readonly #store: Store;
  readonly #chunk: Statement<number>;
  readonly #all: Statement<number>;
  /** Set the optional references to its rows to null. */
  readonly #releases: readonly Statement<number>[];

  /** @param owned all tables with rows of tenants */
  constructor(store: Store, { name, primaryKey, isOrderedByKey = false }: Table, owned: readonly Table[]) {
    this.isIndex = isOrderedByKey;
    const { builder, name: dialectName } = store.dialect;
    const table = sql.table(name);
    const ofTenant = sql`${sql.ref(tenantColumn)} = ${parameter((no: number) => no)}`;
    const key = sql.join(primaryKey.map((column) => sql.ref(column)));
    // Rows that another process is deleting are left to it.
    const skipped = dialectName === "postgres" ? sql`for update skip locked` : sql``;
    const chunk = sql`select ${key} from ${table} where ${ofTenant} limit ${sql.lit(chunkSize)} ${skipped}`;
    const limited = sql`(${key}) in (${chunk})`;
    const run = (query: RawBuilder<unknown>): Statement<number> => compile<number>(builder, query);
    this.#store = store;
    this.#chunk = run(sql`delete from ${table} where ${limited} returning 1`);
    this.#all = run(sql`delete from ${table} where ${ofTenant} returning 1`);
    this.#releases = owned.flatMap((referring) => {
      const isOptional = (column: string): boolean =>
        referring.columns.some((each) => each.name === column && each.isNullable);
      return referring.foreignKeys
        .filter((each) => each.table === name && isOptional(each.column))
        .map(({ column }) =>
          run(sql`update ${sql.table(referring.name)} set ${sql.ref(column)} = null where ${ofTenant}`),
        );
    });
  }

  /** Deletes chunk after chunk. Yields the number of rows of each. */
  async *chunks(no: number): AsyncGenerator<number> {
    for (;;) {
      const count = await this.#deleteChunk(no);
      if (count === 0) return;
      yield count;
    }
  }

  /** Deletes what is left. @returns the number of rows */
  async rest(session: Session, no: number): Promise<number> {
    return (await session.query(this.#all, no)).length;
  }

  async #deleteChunk(no: number): Promise<number> {
    const run = (statement: Statement<number>): Promise<number> =>
      this.#store.transaction(async (session) => (await session.query(statement, no)).length);
    try {
      return await run(this.#chunk);
    } catch (error) {
      if (!(error instanceof ConstraintError)) throw error;
    }
    // Rows of this table refer to each other, or tables to each other.
    for (const release of this.#releases) await run(release);
    return run(this.#all);
  }
}
