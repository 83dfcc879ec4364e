// The upgrade of a database from before roles: each tenant gets an owner, all other users the last role.

import { type Kysely, sql } from "kysely";
import { OperatorError } from "../../errors.ts";
import type { Model } from "../../model/model.ts";
import { refuseOldLayout } from "../../store/layout/layout.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import type { DatabaseOf } from "../../store/own-tables/table.ts";
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

type Users = Kysely<DatabaseOf<readonly [typeof usersTable]>>;

const firstUser = (db: Users) =>
  db.selectFrom("users").select(["id", "email"]).orderBy("created_at").orderBy("id").limit(sql.lit(1));

const namedUser = (db: Users, { name }: Pick<ParametersOf<{ name: string }>, "name">) =>
  db
    .selectFrom("users")
    .select(["id", "email"])
    .where(({ eb, or }) => or([eb("id", "=", name), eb("email", "=", name)]));

const selectFirst = defineQuery([usersTable], (db, { tenantId }: ParametersOf<OfTenant>) =>
  firstUser(db).where("tenant_no", "=", tenantId),
);

const selectNamed = defineQuery([usersTable], (db, input: ParametersOf<OfTenant & { name: string }>) =>
  namedUser(db, input).where("tenant_no", "=", input.tenantId),
);

// In layout 1, the rows have the id of their tenant.
const oldTenant = sql<string>`tenant_id`;

const selectFirstOfLayout1 = defineQuery([usersTable], (db, { id }: ParametersOf<{ id: string }>) =>
  firstUser(db).where(oldTenant, "=", id),
);

const selectNamedOfLayout1 = defineQuery(
  [usersTable],
  (db, input: ParametersOf<{ id: string; name: string }>) =>
    namedUser(db, input).where(oldTenant, "=", input.id),
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
  readonly owners: readonly NewOwner[];
  readonly reducedKeys: readonly ReducedKey[];
}

/** Who is to become an owner. */
export interface OwnerChoice {
  /** Ids or addresses of users, or `first`. */
  readonly names: readonly string[];
  /** When users get roles, the first user of a tenant becomes its owner if no other is named. */
  readonly isSandbox: boolean;
}

/**
 * Plans the roles of existing users, before the migration. A tenant whose users have no roles yet, or of whose active users
 * none has every scope, gets an owner.
 *
 * @throws OperatorError for a name that is no user's, and for a tenant for which none is named, if users have no roles yet
 */
export async function planRoles(store: Store, model: Model, choice: OwnerChoice): Promise<RolePlan> {
  const tables = await existingTables(store);
  // What distinguishes later layouts does not matter here.
  refuseOldLayout(store.dialect.name, tables, []);
  const existing = tables.get("users");
  if (!existing) refuseNames(choice);
  if (!existing) return { owners: [], reducedKeys: [] };
  const isUpgrade = !existing.columns.has("role");
  const session = store.database;
  const owners = await newOwners(store, isUpgrade, choice, {
    first: (tenantId) => selectFirst(store).first(session, { tenantId }),
    named: (tenantId, name) => selectNamed(store).first(session, { tenantId, name }),
    hasOwner: (tenantId) => hasOwner(store, model, tenantId),
  });
  return { owners, reducedKeys: isUpgrade ? await reducedKeys(store, model, owners) : [] };
}

/** Refuses what `planRoles` would refuse after a change of the layout, before it. @throws OperatorError */
export async function checkOwnersOfLayout1(store: Store, choice: OwnerChoice): Promise<void> {
  const existing = (await existingTables(store)).get("users");
  if (!existing) return refuseNames(choice);
  const session = store.database;
  await newOwners(store, !existing.columns.has("role"), choice, {
    first: (id) => selectFirstOfLayout1(store).first(session, { id }),
    named: (id, name) => selectNamedOfLayout1(store).first(session, { id, name }),
    // Where users have roles already, a tenant without an owner is not refused.
    hasOwner: async () => true,
  });
}

/** @throws OperatorError for a named user of a database without users */
function refuseNames({ names }: OwnerChoice): void {
  const named = names.find((name) => name !== firstUsers);
  if (named !== undefined) throw unknownOwner(named);
}

function unknownOwner(name: string): OperatorError {
  return new OperatorError(
    `--owner ${name}: no tenant has this user; portico user list shows the users of a tenant`,
  );
}

type FoundUser = Pick<NewOwner, "email"> & { readonly id: string };

/** Finds users of a tenant in a database of either layout. */
interface UserLookup {
  first(tenantId: string): Promise<FoundUser | undefined>;
  named(tenantId: string, name: string): Promise<FoundUser | undefined>;
  hasOwner(tenantId: string): Promise<boolean>;
}

async function newOwners(
  store: Store,
  lacksRoles: boolean,
  { names, isSandbox }: OwnerChoice,
  lookup: UserLookup,
): Promise<readonly NewOwner[]> {
  const unused = new Set(names.filter((name) => name !== firstUsers));
  const choosesFirst = names.includes(firstUsers) || (isSandbox && lacksRoles);
  const owners: NewOwner[] = [];
  const missing: string[] = [];
  for (const { id: tenantId, name: tenantName } of await listTenants(store)) {
    const named = await Promise.all(
      [...new Set(names)].map(async (name) => {
        const user = await lookup.named(tenantId, name);
        if (user) unused.delete(name);
        return user;
      }),
    );
    const first = await lookup.first(tenantId);
    if (!first || (!lacksRoles && (await lookup.hasOwner(tenantId)))) continue;
    const chosen = named.find((user) => user !== undefined) ?? (choosesFirst ? first : undefined);
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
