// Composes the declarations of an app with the modules of the server. A capability is a folder with a `module.ts`, and an
// entry in the list below.

import type { DescribedRoute } from "../api/described-route.ts";
import { apiKeysModule } from "../auth/api-keys/module.ts";
import type { ApiKeys } from "../auth/api-keys/resource.ts";
import { clientsModule } from "../auth/clients/module.ts";
import { invitationsModule } from "../auth/invitations/module.ts";
import type { Invitations } from "../auth/invitations/resource.ts";
import { tenantsModule } from "../auth/tenants/module.ts";
import { tokensModule } from "../auth/tokens/module.ts";
import { userExtensionOf, withoutExtension } from "../auth/users/extension.ts";
import { usersModule } from "../auth/users/module.ts";
import type { App } from "../declare/app.ts";
import { engineModule } from "../engine/module.ts";
import { validatePolicies } from "../engine/validate-policies.ts";
import { BodyValidator } from "../engine/validation/body-validator.ts";
import { hookValues } from "../engine/validation/row-values.ts";
import { OperatorError } from "../errors.ts";
import { eventLogModule } from "../event-log/module.ts";
import { eventsModule } from "../events/module.ts";
import { exportsModule } from "../exports/module.ts";
import { filesModule } from "../file-transfer/module.ts";
import { graphqlModule } from "../graphql/module.ts";
import { type DeclaredHandler, requireKnownEvents } from "../handlers/declared-handlers.ts";
import { handlersModule } from "../handlers/module.ts";
import { areEventsOfHandlersNeeded } from "../handlers/needed-events.ts";
import { httpModule } from "../http/module.ts";
import { requireFreePaths, requireFreeRoutes } from "../http/reserved-paths.ts";
import { idempotencyModule } from "../idempotency/module.ts";
import { importsModule } from "../imports/module.ts";
import { mailModule } from "../mail/module.ts";
import { mcpModule } from "../mcp/module.ts";
import { buildModel, type ModelOptions } from "../model/build-model.ts";
import type { Model } from "../model/model.ts";
import { oauthModule } from "../oauth/module.ts";
import { openApiModule } from "../openapi/module.ts";
import { validateCounts } from "../query/count.ts";
import { referencePagesModule } from "../reference-pages/module.ts";
import { meModule } from "../rest/me/module.ts";
import { restModule } from "../rest/module.ts";
import { routesModule } from "../routes/module.ts";
import type { DeclaredSchedule } from "../schedules/declared-schedules.ts";
import { schedulesModule } from "../schedules/module.ts";
import { openStore } from "../store/open.ts";
import { tablesOf } from "../store/schema/model-tables.ts";
import type { CheckFill, Table } from "../store/schema/table.ts";
import type { Store } from "../store/store.ts";
import { usageModule } from "../usage/module.ts";
import type { WebhookEndpoints } from "../webhooks/endpoint.ts";
import { webhooksModule } from "../webhooks/module.ts";
import { areEventsNeeded } from "../webhooks/needed-events.ts";
import { loadApp, type Project } from "./config.ts";
import type { Module, ModuleOptions, ModuleReport } from "./module.ts";
import { readSettings, type Settings } from "./settings/settings.ts";

/** Every module. Resources appear in this order wherever all are listed. */
function modulesOf(
  options: ModuleOptions,
  extension: ReturnType<typeof userExtensionOf>,
  {
    apiKeys,
    invitations,
    webhooks,
    handlers,
    schedules,
  }: Readonly<Record<"apiKeys" | "invitations" | "webhooks" | "handlers" | "schedules", Module>>,
): readonly Module[] {
  return [
    tenantsModule(),
    usersModule(options, extension),
    invitations,
    apiKeys,
    usageModule(options),
    mailModule(options),
    clientsModule(),
    tokensModule(),
    eventsModule(options, [areEventsNeeded, areEventsOfHandlersNeeded]),
    engineModule(),
    eventLogModule(),
    exportsModule(options),
    webhooks,
    handlers,
    schedules,
    idempotencyModule(),
    importsModule(options),
    filesModule(options),
    httpModule(),
    oauthModule(options),
    graphqlModule(options),
    mcpModule(options),
    meModule(),
    restModule(),
    routesModule(),
    openApiModule(options),
    referencePagesModule(options),
  ];
}

/** A checked app with the modules of the server. */
export interface Assembly {
  readonly app: App;
  readonly model: Model;
  readonly settings: Settings;
  readonly modules: readonly Module[];
  readonly tables: readonly Table[];
  readonly reports: readonly ModuleReport[];
  /** The routes of the modules that are not operations. */
  readonly describedRoutes: readonly DescribedRoute[];
  readonly apiKeys: ApiKeys;
  readonly invitations: Invitations;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly handlers: readonly DeclaredHandler[];
  readonly schedules: readonly DeclaredSchedule[];
}

/** Loads the declarations and settings of a project, and checks both. */
export async function assemble({ folder, environment }: Project): Promise<Assembly> {
  const app = await loadApp(folder);
  return composeApp(app, readSettings(environment, app.settings));
}

/** Combines an app with the modules of the server. @throws OperatorError for invalid declarations */
export function composeApp(declaredApp: App, settings: Settings): Assembly {
  const extension = userExtensionOf(declaredApp.resources);
  const app = { ...declaredApp, resources: withoutExtension(declaredApp.resources) };
  const apiKeys = apiKeysModule({ app, settings });
  const invitations = invitationsModule({ app });
  const webhooks = webhooksModule({ app, settings });
  const handlers = handlersModule({ app, settings });
  const schedules = schedulesModule({ app, settings });
  const named = { apiKeys, invitations, webhooks, handlers, schedules };
  const modules = modulesOf({ app, settings }, extension, named);
  const reports = modules.flatMap((each) => each.reports ?? []);
  const operations = modules.flatMap((each) => each.operations ?? []);
  const explainsFailures = settings.mode === "sandbox";
  const selfEditable = extension?.selfEditable ?? [];
  const model = validatedModel(app, modules, { reports, operations, explainsFailures, selfEditable });
  requireKnownEvents(handlers.handlers, model);
  const ownPaths = modules.flatMap((each) => each.paths ?? []);
  requireFreePaths(model.resources, ownPaths);
  requireFreeRoutes(model, ownPaths);
  const indexes = modules.flatMap((each) => each.indexes ?? []);
  const tables = tablesOf(model, ownTablesOf(modules), indexes, fillCheck(model));
  const declared = {
    apiKeys: apiKeys.apiKeys,
    invitations: invitations.invitations,
    webhookEndpoints: webhooks.endpoints,
    handlers: handlers.handlers,
    schedules: schedules.schedules,
    describedRoutes: modules.flatMap((each) => each.describedRoutes ?? []),
  };
  return { app, model, settings, modules, tables, reports, ...declared };
}

/** Checks values of `fill` as those of hooks, which can also set fields that callers cannot set. */
function fillCheck(model: Model): CheckFill {
  let validator: BodyValidator | undefined;
  return (resource, { name }, value) => {
    validator ??= new BodyValidator(model);
    return hookValues(resource, validator.validate(resource, "hookResult", { [name]: value }))[name];
  };
}

/** Tables of the server itself that belong to no resource. */
export function ownTablesOf(modules: readonly Module[]): readonly Table[] {
  return modules.flatMap((each) => each.tables ?? []);
}

function validatedModel(app: App, modules: readonly Module[], options: ModelOptions): Model {
  const ownResources = modules.flatMap((each) => each.resources ?? []);
  try {
    const model = buildModel(app, ownResources, options);
    validatePolicies(model);
    validateCounts(model);
    return model;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`the declarations are invalid: ${(error as Error).message}`);
  }
}

export function openDatabase({ databaseUrl, slowReadSeconds }: Settings): Promise<Store> {
  return openStore(databaseUrl, { slowReadMs: 1000 * slowReadSeconds });
}

/** Opens the database for some work and closes it again. */
export async function withStore<T>(assembly: Assembly, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openDatabase(assembly.settings);
  try {
    return await work(store);
  } finally {
    await store.database.close();
  }
}
