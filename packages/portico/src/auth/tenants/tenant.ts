// Tenants: the accounts that own all rows, users, keys and clients.

import { sql } from "kysely";
import { OperatorError } from "../../errors.ts";
import { isId, newId } from "../../lib/id.ts";
import type { Session } from "../../store/database.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import type { Store } from "../../store/store.ts";
import { tenantsTable } from "../../store/tenants.ts";
import { usersTable } from "../users/fields.ts";

export interface Tenant {
  readonly id: string;
  readonly name: string;
}

interface NewTenant extends Tenant {
  readonly createdAt: string;
}

const insertRow = defineQuery([tenantsTable], (db, input: ParametersOf<NewTenant>) =>
  db.insertInto("tenants").values({
    id: input.id,
    name: input.name,
    created_at: input.createdAt,
  }),
);

const selectAll = defineQuery([tenantsTable], (db) =>
  db
    .selectFrom("tenants")
    .select(["id", "name", "created_at as createdAt"])
    .orderBy("created_at")
    .orderBy("id"),
);

const selectFirst = defineQuery([tenantsTable], (db) =>
  db.selectFrom("tenants").select(["id", "name"]).orderBy("created_at").orderBy("id").limit(sql.lit(1)),
);

const selectById = defineQuery([tenantsTable], (db, input: ParametersOf<{ id: string }>) =>
  db.selectFrom("tenants").select(["id", "name"]).where("id", "=", input.id),
);

const selectFirstUser = defineQuery([usersTable], (db, input: ParametersOf<{ tenantId: string }>) =>
  db
    .selectFrom("users")
    .select("id")
    .where("tenant_no", "=", input.tenantId)
    .orderBy("created_at")
    .orderBy("id")
    .limit(sql.lit(1)),
);

const selectUser = defineQuery([usersTable], (db, input: ParametersOf<{ tenantId: string; id: string }>) =>
  db.selectFrom("users").select("id").where("tenant_no", "=", input.tenantId).where("id", "=", input.id),
);

const updateName = defineQuery([tenantsTable], (db, input: ParametersOf<Tenant>) =>
  db.updateTable("tenants").set({ name: input.name }).where("id", "=", input.id),
);

/** Changes the name of a tenant. @throws OperatorError if there is none with this id */
export async function renameTenant(store: Store, id: string, name: string): Promise<Tenant> {
  await findTenant(store, id);
  await store.transaction((session) => updateName(store).run(session, { id, name }));
  return { id, name };
}

export async function createTenant(store: Store, name: string): Promise<Tenant> {
  return store.transaction((session) => insertTenant(store, session, name));
}

/** Creates a tenant in the transaction of `session`. */
export async function insertTenant(store: Store, session: Session, name: string): Promise<Tenant> {
  const tenant = { id: newId("tenant"), name };
  await insertRow(store).run(session, { ...tenant, createdAt: new Date().toISOString() });
  return tenant;
}

/** The oldest tenant; undefined if there is none. */
export async function findFirstTenant(store: Store): Promise<Tenant | undefined> {
  return selectFirst(store).first(store.database);
}

/** All tenants, oldest first. */
export function listTenants(store: Store): Promise<readonly NewTenant[]> {
  return selectAll(store).all(store.database);
}

/**
 * The tenant with an id, or the oldest one.
 * @throws OperatorError if there is none
 */
export async function findTenant(store: Store, id?: string): Promise<Tenant> {
  const tenant = await (id === undefined ? findFirstTenant(store) : findById(store, id));
  if (tenant) return tenant;
  throw new OperatorError(
    id === undefined
      ? "there is no tenant yet; create one: portico tenant create --name NAME"
      : `there is no tenant ${id}; portico tenant list shows those that exist`,
  );
}

async function findById(store: Store, id: string): Promise<Tenant | undefined> {
  return isId(id) ? selectById(store).first(store.database, { id }) : undefined;
}

/** Whether the database has no tenant yet. Until the transaction of `session` ends, no other process creates one. */
export async function hasNoTenant(store: Store, session: Session): Promise<boolean> {
  await store.lockTable(session, tenantsTable.name);
  return (await selectFirst(store).first(session)) === undefined;
}

/**
 * Checks the id of a tenant's user, or finds its oldest user; null if it has none.
 * @throws OperatorError if the tenant has no user with this id
 */
export async function findUser(store: Store, tenantId: string, id?: string): Promise<string | null> {
  if (id === undefined) return (await selectFirstUser(store).first(store.database, { tenantId }))?.id ?? null;
  if (await selectUser(store).first(store.database, { tenantId, id })) return id;
  throw new OperatorError(
    `the tenant has no user ${id}; portico user list --tenant ${tenantId} shows its users`,
  );
}
