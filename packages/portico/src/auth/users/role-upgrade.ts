// The upgrade of a database from before roles: each tenant gets an owner, all other users the last role.

import { sql } from "kysely";
import { OperatorError } from "../../errors.ts";
import type { Model } from "../../model/model.ts";
import { refuseOldLayout } from "../../store/layout/layout.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import { existingTables } from "../../store/schema/migrate.ts";
import type { Store } from "../../store/store.ts";
import { apiKeysTable } from "../api-keys/resource.ts";
import { listTenants } from "../tenants/tenant.ts";
import { usersTable } from "./fields.ts";
import { ownerRoles, scopesOfRole } from "./role-rules.ts";

/** Names the first user of each tenant as its owner. */
export const firstUsers = "first";

/** A tenant and the user who gets the first role. */
export interface NewOwner {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly userId: string;
  readonly email: string;
}

/** A key whose owner has a role that lacks some of its scopes. */
export interface ReducedKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly ownerId: string;
  readonly role: string;
  readonly lostScopes: readonly string[];
}

interface OfTenant {
  readonly tenantId: string;
}

const selectFirst = defineQuery([usersTable], (db, { tenantId }: ParametersOf<OfTenant>) =>
  db
    .selectFrom("users")
    .select(["id", "email"])
    .where("tenant_no", "=", tenantId)
    .orderBy("created_at")
    .orderBy("id")
    .limit(sql.lit(1)),
);

const selectNamed = defineQuery(
  [usersTable],
  (db, { tenantId, name }: ParametersOf<OfTenant & { name: string }>) =>
    db
      .selectFrom("users")
      .select(["id", "email"])
      .where("tenant_no", "=", tenantId)
      .where(({ eb, or }) => or([eb("id", "=", name), eb("email", "=", name)])),
);

const setRole = defineQuery(
  [usersTable],
  (db, { tenantId, userId, role }: ParametersOf<NewOwner & { role: string }>) =>
    db
      .updateTable("users")
      .set({ role, active: sql.lit(true) })
      .where("tenant_no", "=", tenantId)
      .where("id", "=", userId),
);

const hasRole = defineQuery(
  [usersTable],
  (db, { tenantId, role }: ParametersOf<OfTenant & { role: string }>) =>
    db
      .selectFrom("users")
      .select("id")
      .where("tenant_no", "=", tenantId)
      .where("role", "=", role)
      .where("active", "=", sql.lit(true))
      .limit(sql.lit(1)),
);

const keysOfUsers = defineQuery([apiKeysTable], (db) =>
  db
    .selectFrom("api_keys as k")
    .select(["k.id", "k.name", "k.prefix", "k.scopes", "k.owner_id as ownerId"])
    .where("k.owner_id", "is not", null)
    .where("k.revoked_at", "is", null)
    .where("k.type", "=", sql.lit("secret"))
    .orderBy("k.id"),
);

/** The owners that a migration appoints, and the keys that lose scopes because users get roles. */
export interface RolePlan {
  /** Whether the users have no roles yet. */
  readonly isUpgrade: boolean;
  readonly owners: readonly NewOwner[];
  readonly reducedKeys: readonly ReducedKey[];
}

/**
 * Plans the roles of existing users, before the migration. A tenant whose users have no roles yet, or of whose active users
 * none has every scope, gets an owner.
 *
 * @param names ids or addresses of users, or `first`
 * @throws OperatorError for a name that is no user's, and for a tenant for which none is named, if users have no roles yet
 */
export async function planRoles(store: Store, model: Model, names: readonly string[]): Promise<RolePlan> {
  const tables = await existingTables(store);
  refuseOldLayout(tables);
  const existing = tables.get("users");
  const named = names.find((name) => name !== firstUsers);
  if (!existing && named !== undefined) throw unknownOwner(named);
  if (!existing) return { isUpgrade: false, owners: [], reducedKeys: [] };
  const isUpgrade = !existing.columns.has("role");
  const owners = await newOwners(store, model, isUpgrade, names);
  return { isUpgrade, owners, reducedKeys: isUpgrade ? await reducedKeys(store, model, owners) : [] };
}

function unknownOwner(name: string): OperatorError {
  return new OperatorError(`--owner ${name}: no tenant has this user`);
}

async function newOwners(
  store: Store,
  model: Model,
  lacksRoles: boolean,
  names: readonly string[],
): Promise<readonly NewOwner[]> {
  const unused = new Set(names.filter((name) => name !== firstUsers));
  const owners: NewOwner[] = [];
  const missing: string[] = [];
  for (const { id: tenantId, name: tenantName } of await listTenants(store)) {
    const session = store.database;
    const named = await Promise.all(
      [...new Set(names)].map(async (name) => {
        const [user] = await selectNamed(store).all(session, { tenantId, name });
        if (user) unused.delete(name);
        return user;
      }),
    );
    const first = await selectFirst(store).first(session, { tenantId });
    if (!first || (!lacksRoles && (await hasOwner(store, model, tenantId)))) continue;
    const chosen =
      named.find((user) => user !== undefined) ?? (names.includes(firstUsers) ? first : undefined);
    if (chosen) owners.push({ tenantId, tenantName, userId: chosen.id, email: chosen.email });
    else missing.push(`${tenantName} (${tenantId})`);
  }
  const [unknown] = unused;
  if (unknown !== undefined) throw unknownOwner(unknown);
  if (lacksRoles && missing.length > 0)
    throw new OperatorError(
      `users get roles: name the owner of each tenant with --owner EMAIL, which can be repeated, or --owner first for the first user of each; missing for ${missing.join(", ")}`,
    );
  return owners;
}

async function hasOwner(store: Store, model: Model, tenantId: string): Promise<boolean> {
  for (const { name: role } of ownerRoles(model))
    if (await hasRole(store).first(store.database, { tenantId, role })) return true;
  return false;
}

/** Gives the owners the first role. Call it after the migration. */
export async function appointOwners(store: Store, model: Model, owners: readonly NewOwner[]): Promise<void> {
  if (owners.length === 0) return;
  const role = model.roles[0]!.name;
  await store.transaction(async (session) => {
    for (const owner of owners) await setRole(store).run(session, { ...owner, role });
  });
}

/** The tenants with users, none of which is active and has every scope. Call it after the migration. */
export async function tenantsWithoutOwner(store: Store, model: Model): Promise<readonly string[]> {
  const without: string[] = [];
  for (const { id: tenantId } of await listTenants(store)) {
    const first = await selectFirst(store).first(store.database, { tenantId });
    if (first && !(await hasOwner(store, model, tenantId))) without.push(tenantId);
  }
  return without;
}

/** The keys that lose scopes, because their owners get the last role. */
async function reducedKeys(
  store: Store,
  model: Model,
  owners: readonly NewOwner[],
): Promise<readonly ReducedKey[]> {
  const appointed = new Set(owners.map(({ userId }) => userId));
  const [first, last] = [model.roles[0]!.name, model.roles.at(-1)!.name];
  const reduced: ReducedKey[] = [];
  for (const key of await keysOfUsers(store).all(store.database)) {
    const { id, name, prefix } = key;
    const ownerId = key.ownerId!;
    const role = appointed.has(ownerId) ? first : last;
    const allowed = scopesOfRole(model, role);
    const lostScopes = (JSON.parse(key.scopes) as string[]).filter((scope) => !allowed.has(scope));
    if (lostScopes.length > 0) reduced.push({ id, name, prefix, ownerId, role, lostScopes });
  }
  return reduced;
}
