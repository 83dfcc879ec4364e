// Disables an endpoint on behalf of the server, and reports that to the user for whom it got events.

import { apiKeysTable } from "../auth/api-keys/resource.ts";
import type { Principal } from "../auth/principal.ts";
import { systemCaller } from "../auth/system-caller.ts";
import { usersTable } from "../auth/users/fields.ts";
import type { Engine } from "../engine/engine.ts";
import type { EmailSettings } from "../mail/message.ts";
import { insertEmail } from "../mail/message.ts";
import { endpointDisabledEmail } from "../mail/templates/webhook-emails.ts";
import type { Transaction } from "../store/database.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import type { WebhookEndpoints } from "./endpoint.ts";
import type { Target } from "./endpoint-queries.ts";

export type DisableReason = "gone" | "failing" | "credential_revoked";

/** Disables an endpoint, unless it was deleted, disabled or given another URL meanwhile. */
export type DisableEndpoint = (target: Target, reason: DisableReason) => Promise<void>;

interface DisableOptions {
  readonly store: Store;
  readonly engine: Engine;
  readonly endpoints: WebhookEndpoints;
  readonly emails: EmailSettings;
}

export function endpointDisabler({ store, engine, endpoints, emails }: DisableOptions): DisableEndpoint {
  return async (target, reason) => {
    const { tenantId, endpointId, url, principal } = target;
    await engine.inTransaction(systemCaller(engine.model, tenantId), async (rows, session) => {
      const current = await rows.get(endpoints, endpointId);
      if (current?.status !== "enabled" || current.url !== url) return;
      await rows.update(endpoints, endpointId, { status: "disabled", disabledReason: reason });
      const user = await userOf(store, session, principal);
      if (!user) return;
      const at = new Date().toISOString();
      const facts = { apiName: emails.apiName, userName: user.name, url, endpointId, reason, at };
      const { status } = emails;
      const email = {
        ...endpointDisabledEmail(facts),
        to: user.email,
        kind: "webhook_endpoint.disabled",
        status,
      };
      await insertEmail(store, session, engine.model, tenantId, email);
    });
  };
}

interface UserOfTenant {
  readonly tenantId: string;
  readonly userId: string;
}

const selectUser = defineQuery([usersTable], (db, { tenantId, userId }: ParametersOf<UserOfTenant>) =>
  db.selectFrom("users").select(["name", "email"]).where("tenant_no", "=", tenantId).where("id", "=", userId),
);

const selectKeyOwner = defineQuery(
  [apiKeysTable],
  (db, { tenantId, keyId }: ParametersOf<{ tenantId: string; keyId: string }>) =>
    db
      .selectFrom("api_keys")
      .select("owner_id as ownerId")
      .where("tenant_no", "=", tenantId)
      .where("id", "=", keyId),
);

/** The user behind a principal; undefined for a client, and for a key without an owner. */
async function userOf(
  store: Store,
  session: Transaction,
  principal: Principal,
): Promise<{ readonly name: string; readonly email: string } | undefined> {
  const { tenantId, kind } = principal;
  if (kind === "client") return undefined;
  const userId =
    kind === "key" ? (await selectKeyOwner(store).first(session, principal))?.ownerId : principal.userId;
  return userId ? selectUser(store).first(session, { tenantId, userId }) : undefined;
}
