// A tenant with users keeps at least one whose role has every scope, so that somebody can manage the others.

import { sql } from "kysely";
import { Problem } from "../../errors.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import type { OwnIndex } from "../../store/schema/table.ts";
import { tenantsTable } from "../../store/tenants.ts";
import type { OwnHookContext } from "../own-hook-context.ts";
import { invalidCredential } from "../presented-credential.ts";
import { usersTable } from "./fields.ts";
import { ownerRoles } from "./role-rules.ts";

/** Index for finding the users of a tenant with a role. */
export const roleIndexes: readonly OwnIndex[] = [
  {
    table: "users",
    name: "portico_users_tenant_no_role",
    columns: ["tenant_no", "role"].map((name) => ({ name, isNullable: false })),
    isUnique: false,
  },
];

interface OfTenant {
  readonly tenantId: string;
}

/**
 * Writes that depend on all users of a tenant take turns. SQLite has one writer in any case. The lock does not conflict with
 * those of foreign keys and of `keepTenant`, which the transactions may have already: two of them would deadlock otherwise.
 */
export const lockTenant = defineQuery(
  [tenantsTable],
  (db, { id }: ParametersOf<{ id: string }>, { name }) => {
    const tenant = db.selectFrom("tenants").select("id").where("id", "=", id);
    return name === "postgres" ? tenant.forNoKeyUpdate() : tenant;
  },
);

const anyUser = defineQuery([usersTable], (db, { tenantId }: ParametersOf<OfTenant>) =>
  db.selectFrom("users").select("id").where("tenant_no", "=", tenantId).limit(sql.lit(1)),
);

const otherOwner = defineQuery(
  [usersTable],
  (db, { tenantId, id, role }: ParametersOf<OfTenant & { id: string; role: string }>) =>
    db
      .selectFrom("users")
      .select("id")
      .where("tenant_no", "=", tenantId)
      .where("role", "=", role)
      .where("active", "=", sql.lit(true))
      .where("id", "<>", id)
      .limit(sql.lit(1)),
);

/**
 * Whether the tenant has no user yet. Until the transaction ends, no other one adds the first.
 * @throws Problem `invalid_credential` if the tenant was deleted
 */
export async function isFirstUser({ caller: { tenantId }, query }: OwnHookContext): Promise<boolean> {
  if ((await query(lockTenant, { id: tenantId })).length === 0) throw invalidCredential();
  return (await query(anyUser, { tenantId })).length === 0;
}

/**
 * Requires that another active user of the tenant has a role with every scope. Until the transaction ends, no other one
 * takes that role away.
 *
 * @param id the user who loses theirs
 * @throws Problem `conflict`
 */
export async function requireOtherOwner(context: OwnHookContext, id: string): Promise<void> {
  const { caller, model, query } = context;
  const { tenantId } = caller;
  await query(lockTenant, { id: tenantId });
  for (const { name } of ownerRoles(model))
    if ((await query(otherOwner, { tenantId, id, role: name })).length > 0) return;
  throw new Problem(
    "conflict",
    `This is the last active user with the role ${ownerRoles(model)[0]!.name}. Give it to another user first.`,
  );
}
