// Who a caller is, for the caller itself.

import type { Caller, CallerKind, Quota } from "../declare/caller.ts";
import { Problem, validationError } from "../errors.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import { select } from "../query/selection.ts";
import type { Session } from "../store/database.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { tenantsTable } from "../store/tenants.ts";
import { requireScope } from "./authorize.ts";

export interface Me {
  readonly kind: CallerKind;
  readonly tenant: { readonly id: string; readonly name: string };
  /** The user that the caller acts for. */
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly role: string;
    /** The fields that the app adds. */
    readonly [name: string]: unknown;
  } | null;
  /** What the caller may do now, sorted. */
  readonly scopes: readonly string[];
  readonly rateLimit: Quota | null;
}

/** The attributes of users that say nothing about the person. */
const leftOut = ["active", "createdAt", "updatedAt"];

/** What the API shows callers of their own user. */
export function ownAttributes({ attributes }: Pick<ResourceModel, "attributes">): readonly Attribute[] {
  return attributes.filter(({ name, isInternal }) => !isInternal && !leftOut.includes(name));
}

const selectTenant = defineQuery([tenantsTable], (db, { id }: ParametersOf<{ id: string }>) =>
  db.selectFrom("tenants").select(["id", "name"]).where("id", "=", id),
);

export async function readMe(
  store: Store,
  users: ResourceModel,
  caller: Caller,
  session: Session,
): Promise<Me> {
  const { kind, tenantId, userId, scopes, quota } = caller;
  const own = { resource: users, selection: select(ownAttributes(users)), conditions: [] };
  const [tenant, user] = await Promise.all([
    selectTenant(store).first(session, { id: tenantId }),
    userId === null ? undefined : store.get(tenantId, { ...own, id: userId }, session),
  ]);
  return {
    kind,
    // A credential is deleted with its tenant.
    tenant: tenant ?? { id: tenantId, name: "" },
    user: user === undefined ? null : JSON.parse(user),
    scopes: [...scopes].sort(),
    rateLimit: quota ?? null,
  };
}

/**
 * The user that a caller changes by `PATCH /v1/me`.
 * @throws Problem `forbidden` for a caller without a user, `insufficient_scope` for an application that may not see the
 *   user's profile
 */
export function changeableUserOf(caller: Caller): string {
  const { userId, isDelegated } = caller;
  if (userId === null)
    throw new Problem("forbidden", "This credential belongs to no user, so there is nobody to change.");
  if (isDelegated) requireScope(caller, "profile");
  return userId;
}

/**
 * @param editable the fields that users can change themselves
 * @throws Problem `validation_error` for a member that exists, but only those who manage users may change
 */
export function requireOwnFields(
  body: unknown,
  known: ResourceModel["attribute"],
  editable: readonly string[],
): void {
  if (typeof body !== "object" || body === null) return;
  const name = Object.keys(body).find(
    (each) => known.get(each)?.isInternal === false && !editable.includes(each),
  );
  if (name === undefined) return;
  const [last, ...others] = editable.toReversed();
  const listed = others.length === 0 ? last : `${others.toReversed().join(", ")} and ${last}`;
  throw validationError(name, "read_only", `You can change your ${listed} only.`);
}
