// Whom code acts for that no request has called.

import type { Principals } from "../auth/principal.ts";
import { systemCaller } from "../auth/system-caller.ts";
import { findTenant } from "../auth/tenants/tenant.ts";
import { UserLookup } from "../auth/users/lookup.ts";
import type { Caller } from "../declare/caller.ts";
import { OperatorError } from "../errors.ts";
import type { Model } from "../model/model.ts";
import type { Store } from "../store/store.ts";
import type { Actor } from "./embedded-server.ts";

/** @throws OperatorError for a tenant or a user that does not exist, or a user who is not active */
export async function callerOfActor(
  store: Store,
  model: Model,
  principals: Principals,
  { tenant, user }: Actor,
): Promise<Caller> {
  const { id: tenantId } = await findTenant(store, tenant);
  if (user === undefined) return systemCaller(model, tenantId);
  return userNamed(store, principals, tenantId, user);
}

/**
 * A user as a caller, with all scopes of the role.
 *
 * @param user an id or an address
 * @throws OperatorError if the tenant has no such user, or the user is not active
 */
export async function userNamed(
  store: Store,
  principals: Principals,
  tenantId: string,
  user: string,
): Promise<Caller> {
  const userId = user.includes("@") ? (await new UserLookup(store).findByEmail(tenantId, user))?.id : user;
  const caller =
    userId === undefined ? undefined : await principals.current({ kind: "user", tenantId, userId });
  if (caller) return caller;
  throw new OperatorError(
    `the tenant has no active user ${user}; portico user list --tenant ${tenantId} shows its users`,
  );
}
