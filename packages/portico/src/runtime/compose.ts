// The one place where the parts of Portico are put together.

import { expiryIndexes } from "../auth/api-keys/expiry-notices.ts";
import { type ApiKeys, declareApiKeys } from "../auth/api-keys/resource.ts";
import { clientSecrets, oauthClients } from "../auth/clients/resource.ts";
import { tenantsTable } from "../auth/tenants/tenant.ts";
import { oauthRecordsTable } from "../auth/tokens/oauth-records-table.ts";
import { signingKeysTable } from "../auth/tokens/signing-keys.ts";
import { emailChangeIndexes } from "../auth/users/email-changes.ts";
import { passkeysTable } from "../auth/users/passkeys.ts";
import { passwordsTable } from "../auth/users/password.ts";
import { emailChanges, users } from "../auth/users/resource.ts";
import { verifiedEmailsTable } from "../auth/users/verified-email.ts";
import type { App } from "../declare/app.ts";
import type { Resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import { eventsTable } from "../events/event.ts";
import { purgedEventsTable } from "../events/purged-events.ts";
import { requireFreePaths } from "../http/own-paths.ts";
import { mailIndexes, mails } from "../mail/message.ts";
import { buildModel } from "../model/build-model.ts";
import type { Model } from "../model/model.ts";
import { mountedAt } from "../oauth/endpoints/issuer.ts";
import { openStore } from "../store/open.ts";
import { type Table, tablesOf } from "../store/schema/ddl.ts";
import type { Store } from "../store/store.ts";
import { keyUsageReport } from "../usage/key-usage.ts";
import { keyUsageTable } from "../usage/key-usage-buffer.ts";
import { requestLogs } from "../usage/request-log.ts";
import { loadApp, type Project } from "./config.ts";
import { keyEmails } from "./notices.ts";
import { authUrl, readSettings, type Settings } from "./settings/settings.ts";

/** Tables of the server itself that belong to no resource. */
export const ownTables = [
  tenantsTable,
  passwordsTable,
  verifiedEmailsTable,
  passkeysTable,
  eventsTable,
  purgedEventsTable,
  keyUsageTable,
  oauthRecordsTable,
  signingKeysTable,
];
const ownIndexes = [...mailIndexes, ...expiryIndexes, ...emailChangeIndexes];

export interface Assembly {
  readonly app: App;
  readonly model: Model;
  readonly settings: Settings;
  readonly tables: readonly Table[];
  readonly apiKeys: ApiKeys;
}

/** Loads the declarations and settings of a project, and checks both. */
export async function assemble({ folder, environment }: Project): Promise<Assembly> {
  const app = await loadApp(folder);
  return composeApp(app, readSettings(environment, app.settings));
}

/** Combines an app with the server's own resources and tables, and checks its declarations. */
export function composeApp(app: App, settings: Settings): Assembly {
  const apiKeys: ApiKeys = declareApiKeys({
    environment: settings.mode === "live" ? "live" : "test",
    expiringSoonDays: settings.keyExpiringSoonDays,
    standardQuota: settings.keyQuota,
    notices: keyEmails(app, settings, () => apiKeys),
  });
  const ownResources = [users, emailChanges, apiKeys, requestLogs, mails, oauthClients, clientSecrets];
  const model = validatedModel(app, ownResources, settings.mode === "sandbox");
  requireFreePaths(
    model.resources,
    mountedAt(authUrl(settings, settings.publicUrl), settings.publicUrl).mount,
  );
  return { app, model, settings, tables: tablesOf(model, ownTables, ownIndexes), apiKeys };
}

function validatedModel(app: App, ownResources: readonly Resource[], explainsFailures: boolean): Model {
  try {
    return buildModel(app, ownResources, { explainsFailures, reports: [keyUsageReport] });
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`the declarations of portico.config.ts are faulty: ${(error as Error).message}`);
  }
}

export function openDatabase({ databaseUrl, slowReadSeconds }: Settings): Promise<Store> {
  return openStore(databaseUrl, { slowReadMs: 1000 * slowReadSeconds });
}

/** Opens the database, does something with it and closes it. */
export async function withStore<T>(assembly: Assembly, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openDatabase(assembly.settings);
  try {
    return await work(store);
  } finally {
    await store.database.close();
  }
}
