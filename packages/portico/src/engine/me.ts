// Who a caller is, for the caller itself.

import { usersTable } from "../auth/users/fields.ts";
import type { Caller, CallerKind, Quota } from "../declare/caller.ts";
import { validationError } from "../errors.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { tenantsTable } from "../store/tenants.ts";

export interface Me {
  readonly kind: CallerKind;
  readonly tenant: { readonly id: string; readonly name: string };
  /** The user that the caller acts for. */
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly role: string;
  } | null;
  /** What the caller may do now, sorted. */
  readonly scopes: readonly string[];
  readonly rateLimit: Quota | null;
}

/** The fields of users that they can change themselves, whatever their role. */
const ownFields = ["name", "email"];

const selectTenant = defineQuery([tenantsTable], (db, { id }: ParametersOf<{ id: string }>) =>
  db.selectFrom("tenants").select(["id", "name"]).where("id", "=", id),
);

const selectUser = defineQuery(
  [usersTable],
  (db, { tenantId, id }: ParametersOf<{ tenantId: string; id: string }>) =>
    db
      .selectFrom("users")
      .select(["id", "name", "email", "role"])
      .where("tenant_no", "=", tenantId)
      .where("id", "=", id),
);

export async function readMe(store: Store, caller: Caller): Promise<Me> {
  const { kind, tenantId, userId, scopes, quota } = caller;
  const [tenant, user] = await Promise.all([
    selectTenant(store).first(store.database, { id: tenantId }),
    userId === null ? null : selectUser(store).first(store.database, { tenantId, id: userId }),
  ]);
  return {
    kind,
    // A credential is deleted with its tenant.
    tenant: tenant ?? { id: tenantId, name: "" },
    user: user ?? null,
    scopes: [...scopes].sort(),
    rateLimit: quota ?? null,
  };
}

/** @throws Problem `validation_error` for a member that exists, but only those who manage users may change */
export function requireOwnFields(body: unknown, known: ReadonlyMap<string, unknown>): void {
  if (typeof body !== "object" || body === null) return;
  const name = Object.keys(body).find((each) => known.has(each) && !ownFields.includes(each));
  if (name !== undefined)
    throw validationError(name, "read_only", `You can change your ${ownFields.join(" and ")} only.`);
}
