// Tenants: the accounts that own everything else.

import { sql } from "kysely";
import { OperatorError } from "../../errors.ts";
import { isId, newId } from "../../lib/id.ts";
import type { Session } from "../../store/database.ts";
import type { Table } from "../../store/schema/ddl.ts";
import { compile, parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";

export interface Tenant {
  readonly id: string;
  readonly name: string;
}

export const tenantsTable: Table = {
  name: "tenants",
  columns: ["id", "name", "created_at"].map((name) => ({
    name,
    type: name === "created_at" ? "timestamp" : "text",
    isNullable: false,
    defaultValue: undefined,
    from: "tenants",
  })),
  primaryKey: ["id"],
  indexes: [],
  foreignKeys: [],
  search: undefined,
};

export async function createTenant(store: Store, name: string): Promise<Tenant> {
  return store.transaction((session) => insertTenant(store, session, name));
}

/** The same in a transaction that goes on to fill the tenant. */
export async function insertTenant(store: Store, session: Session, name: string): Promise<Tenant> {
  const tenant = { id: newId("tenant"), name };
  const values = [tenant.id, tenant.name, new Date().toISOString()].map((value) => parameter(() => value));
  const insert = compile(
    store.dialect.builder,
    sql`insert into tenants (id, name, created_at) values (${sql.join(values)})`,
  );
  await session.query(insert, undefined);
  return tenant;
}

/** Every tenant, oldest first. */
export async function listTenants(
  store: Store,
): Promise<readonly (Tenant & { readonly createdAt: string })[]> {
  const statement = compile(
    store.dialect.builder,
    sql`select id, name, created_at from tenants order by created_at, id`,
  );
  const rows = await store.database.query(statement, undefined);
  return rows.map(([id, name, createdAt]) => ({
    id: id as string,
    name: name as string,
    createdAt: new Date(createdAt as string).toISOString(),
  }));
}

/**
 * The tenant with an id, or the first one.
 * @throws OperatorError where there is none
 */
export async function findTenant(store: Store, id?: string): Promise<Tenant> {
  const where = id === undefined ? sql`` : sql` where id = ${parameter(() => id)}`;
  const statement = compile(
    store.dialect.builder,
    sql`select id, name from tenants${where} order by created_at, id limit 1`,
  );
  const [row] = id === undefined || isId(id) ? await store.database.query(statement, undefined) : [];
  if (row) return { id: row[0] as string, name: row[1] as string };
  throw new OperatorError(
    id === undefined
      ? "there is no tenant yet; make one: portico tenant create --name NAME"
      : `there is no tenant ${id}`,
  );
}

/** Whether the database is still without a tenant, in a transaction before whose end nobody else makes one. */
export async function hasNoTenant(store: Store, session: Session): Promise<boolean> {
  const { builder, lockTable } = store.dialect;
  const lock = lockTable(tenantsTable.name);
  if (lock) await session.query(compile(builder, lock), undefined);
  const statement = compile(builder, sql`select 1 from tenants limit 1`);
  return (await session.query(statement, undefined)).length === 0;
}

/**
 * The id of a tenant's user, or of its first one; null where it has none.
 * @throws OperatorError where the tenant has no user with this id
 */
export async function findUser(store: Store, tenantId: string, id?: string): Promise<string | null> {
  const isWanted = id === undefined ? sql`` : sql` and id = ${parameter(() => id)}`;
  const statement = compile(
    store.dialect.builder,
    sql`select id from users where tenant_id = ${parameter(() => tenantId)}${isWanted} order by created_at, id limit 1`,
  );
  const [row] = await store.database.query(statement, undefined);
  if (row) return row[0] as string;
  if (id === undefined) return null;
  throw new OperatorError(`the tenant has no user ${id}`);
}
