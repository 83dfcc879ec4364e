// The one place where the parts of Portico are put together.

import type { App } from "../declare/app.ts";
import { buildModel, type Model } from "../declare/model.ts";
import { OperatorError } from "../errors.ts";
import { eventsTable } from "../events/event.ts";
import { requestLogs } from "../events/request-log.ts";
import { apiKeys } from "../identity/api-key.ts";
import { keyUsageTable } from "../identity/key-uses.ts";
import { passwordsTable } from "../identity/password.ts";
import { tenantsTable } from "../identity/tenant.ts";
import { users } from "../identity/user.ts";
import { openStore } from "../store/open.ts";
import { type Table, tablesOf } from "../store/schema.ts";
import type { Store } from "../store/store.ts";
import { loadApp } from "./config.ts";
import { readSettings, type Settings } from "./settings.ts";

/** Resources and scopes of the server itself. */
const ownResources = [users, apiKeys, requestLogs];
const ownTables = [tenantsTable, passwordsTable, eventsTable, keyUsageTable];

export interface Assembly {
  readonly app: App;
  readonly model: Model;
  readonly settings: Settings;
  readonly tables: readonly Table[];
}

/** Reads the project in this folder and its settings, and checks both. */
export async function assemble(): Promise<Assembly> {
  const app = await loadApp();
  const settings = readSettings(process.env, app.settings);
  const model = checkedModel(app);
  return { app, model, settings, tables: tablesOf(model, ownTables) };
}

function checkedModel(app: App): Model {
  try {
    return buildModel(app, ownResources);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`the declarations of portico.config.ts are faulty: ${(error as Error).message}`);
  }
}

/** Opens the database, does something with it and closes it. */
export async function withStore<T>(assembly: Assembly, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(assembly.settings.databaseUrl);
  try {
    return await work(store);
  } finally {
    await store.database.close();
  }
}
