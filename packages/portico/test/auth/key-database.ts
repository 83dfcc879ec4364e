// An engine with API keys on its own database, for cases that HTTP requests cannot produce.

import type { GenerateKey } from "../../src/auth/api-keys/format.ts";
import { declareApiKeys } from "../../src/auth/api-keys/resource.ts";
import { systemCaller } from "../../src/auth/system-caller.ts";
import { createTenant } from "../../src/auth/tenants/tenant.ts";
import { passwordsTable } from "../../src/auth/users/password.ts";
import { users } from "../../src/auth/users/resource.ts";
import { app } from "../../src/declare/app.ts";
import type { Caller } from "../../src/declare/caller.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { WriteResult } from "../../src/engine/write-result.ts";
import { Problem } from "../../src/errors.ts";
import { eventsTable } from "../../src/events/event.ts";
import type { KeyNotifications } from "../../src/mail/key-emails.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { ResourceModel } from "../../src/model/model.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { type DatabaseName, makeWorkspace } from "../support/server.ts";

export interface KeyDatabase {
  readonly store: Store;
  readonly engine: Engine;
  readonly keys: ResourceModel;
  readonly caller: Caller;
  /** Creates a key of the tenant. */
  create(body?: object): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

const silent: KeyNotifications = {
  created: async () => {},
  rotated: async () => {},
  revoked: async () => {},
};

export async function makeKeyDatabase(
  database: DatabaseName,
  { generate, notices = silent }: { generate?: GenerateKey; notices?: KeyNotifications } = {},
): Promise<KeyDatabase> {
  const workspace = await makeWorkspace(database);
  const options = {
    environment: "test",
    expiringSoonDays: 7,
    standardQuota: { limit: 1000, windowSeconds: 60 },
    notices,
    ...(generate && { generate }),
  } as const;
  const model = buildModel(app({ name: "Keys", resources: [] }), [users, declareApiKeys(options)]);
  const store = await openStore(workspace.databaseUrl);
  await migrate(store, tablesOf(model, [tenantsTable, passwordsTable, eventsTable]));
  const engine = new Engine(model, store);
  const keys = model.resource.get("apiKey")!;
  const caller = systemCaller(model, (await createTenant(store, "Tenant")).id);
  return {
    ...{ store, engine, keys, caller },
    create: async (body = {}) =>
      wholeResponse(await engine.create(caller, keys, { name: "Key", scopes: ["keys:read"], ...body })),
    close: async () => {
      await store.database.close();
      await workspace.remove();
    },
  };
}

/** The row with the members that only the response to its write contains. */
export function wholeResponse({ text, returnedOnce }: WriteResult): Record<string, unknown> {
  return { ...JSON.parse(text), ...returnedOnce };
}

/** Refuses every token. */
export const noTokens = {
  caller: (): Promise<never> => Promise.reject(new Problem("invalid_credential")),
};
