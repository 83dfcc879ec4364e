// What has begun may outlast the deletion of its tenant: the body of a request may arrive late, a handler may run for long. It
// writes nothing then.

import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import { tenantsTable } from "../../store/tenants.ts";
import type { OwnHookContext } from "../own-hook-context.ts";
import { invalidCredential } from "../presented-credential.ts";

/** Finds a tenant, and keeps it until the transaction ends. */
export const keepTenant = defineQuery(
  [tenantsTable],
  (db, { id }: ParametersOf<{ id: string }>, { name }) => {
    const tenant = db.selectFrom("tenants").select("id").where("id", "=", id);
    return name === "postgres" ? tenant.forKeyShare() : tenant;
  },
);

/**
 * Requires that the tenant of the caller exists, and keeps it until the transaction ends.
 * @throws Problem `invalid_credential`
 */
export async function requireTenant({ caller: { tenantId }, query }: OwnHookContext): Promise<void> {
  if ((await query(keepTenant, { id: tenantId })).length === 0) throw invalidCredential();
}
