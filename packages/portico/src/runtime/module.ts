// The interface of a module: a capability of the server, in a folder of its own with a `module.ts`. compose.ts lists all
// modules.

import type { DescribedRoute } from "../api/described-route.ts";
import type { Principals } from "../auth/principal.ts";
import type { OAuthUrls } from "../auth/tokens/oauth-urls.ts";
import type { App } from "../declare/app.ts";
import type { Resource } from "../declare/resource.ts";
import type { Engine } from "../engine/engine.ts";
import type { EventLog } from "../event-log/event-log.ts";
import type { EventReader } from "../events/event-reader.ts";
import type { EventFeed } from "../events/feed.ts";
import type { FileUrls } from "../files/file-urls.ts";
import type { FileStorage } from "../files/storage.ts";
import type { HttpModule } from "../http/http-module.ts";
import type { Logger } from "../http/logging/log.ts";
import type { RequestRecorder } from "../http/logging/request-log.ts";
import type { RequestQuotas } from "../http/request-quotas.ts";
import type { IdempotentRequests } from "../idempotency/idempotent-requests.ts";
import type { StoredBytes } from "../idempotency/stored-bytes.ts";
import type { PeriodicWork } from "../jobs/periodic-task.ts";
import type { RetentionPolicy } from "../jobs/purge.ts";
import type { Report as LogReport } from "../lib/report.ts";
import type { Model } from "../model/model.ts";
import type { DeclaredModuleOperation, ReadReport, Report } from "../model/operations.ts";
import type { OAuthOptions } from "../oauth/endpoints/routes.ts";
import type { OwnIndex, Table } from "../store/schema/table.ts";
import type { Store } from "../store/store.ts";
import type { SubscriptionHub } from "../subscriptions/hub.ts";
import type { VisibleEvents } from "../subscriptions/visible-events.ts";
import type { Settings } from "./settings/settings.ts";

/** The arguments of the functions that create modules. */
export interface ModuleOptions {
  readonly app: App;
  readonly settings: Settings;
}

/** A module, in a process that serves or runs a command. `start` imports what only a server needs. */
export interface Module {
  /** Its tables, besides those of its resources. */
  readonly tables?: readonly Table[];
  /** Its indexes on the tables of resources. */
  readonly indexes?: readonly OwnIndex[];
  readonly resources?: readonly Resource[];
  /** Its reports on rows of resources. */
  readonly reports?: readonly ModuleReport[];
  /** Its operations that belong to no resource. Its `register` adds their routes. */
  readonly operations?: readonly DeclaredModuleOperation[];
  /** Its routes that are not operations, for descriptions of the API. */
  readonly describedRoutes?: readonly DescribedRoute[];
  /**
   * First segments of its paths, which no resource may take: `["graphql"]`. It may register routes at the paths of its
   * own exposed resources without listing them.
   */
  readonly paths?: readonly string[];
  /** Whether its routes are the operations of the model, whose paths are those of all resources. Only for REST. */
  readonly servesOperations?: boolean;
  /** Creates its part of a server. The database is migrated, and nothing listens yet. */
  start?(context: ServerContext): RunningModule | Promise<RunningModule>;
}

/** A report, with the code that reads it. */
export interface ModuleReport extends Report {
  /** Called once in each server. */
  reader(context: ReportContext): ReadReport;
}

export type ReportContext = Pick<ServerContext, "model" | "store" | "engine">;

/** What all modules of a server share. */
export interface ServerContext extends ModuleOptions {
  readonly model: Model;
  readonly store: Store;
  readonly engine: Engine;
  /** The routes of all modules that are not operations. */
  readonly describedRoutes: readonly DescribedRoute[];
  /** The reports of all modules. */
  readonly reports: readonly ModuleReport[];
  readonly secrets: readonly string[];
  /** Where callers reach the server; known once it listens, because PORT may leave the choice to the system. */
  readonly urls: Promise<OAuthUrls>;
  /** New events, as they happen. */
  readonly events: EventFeed;
  /** Earlier events, for readers that keep a position. */
  readonly eventReader: EventReader;
  /** What happened to the rows that a caller sees. */
  readonly eventLog: EventLog;
  /** Requests with an Idempotency-Key. */
  readonly idempotentRequests: IdempotentRequests;
  readonly storedBytes: StoredBytes;
  /** Which events a caller sees. */
  readonly visibleEvents: VisibleEvents;
  readonly quotas: RequestQuotas;
  /** The contents of files, and their signed URLs. */
  readonly files: { readonly storage: FileStorage; readonly urls: FileUrls };
  /** The subscriptions of all protocols in this process. */
  readonly hub: SubscriptionHub;
  /** The current callers of what acts without presenting a credential, such as a webhook endpoint. */
  readonly principals: Principals;
  /** The authorization server and its paths. */
  readonly oauth: Omit<OAuthOptions, "addressOf">;
  readonly logger: Logger;
  /** Logs a warning. */
  readonly report: LogReport;
}

/** The part of a module in a running server. */
export interface RunningModule extends Pick<HttpModule, "registerOpen" | "register"> {
  /** Started once the server listens. Stopped as soon as it is closed, while the last requests are handled. */
  readonly tasks?: readonly PeriodicWork[];
  /** Tasks that write what requests leave in memory. Stopped after the last request, before `flush`. */
  readonly writers?: readonly PeriodicWork[];
  /** Deletes its old rows. */
  readonly retention?: readonly RetentionPolicy[];
  /** Called for completed requests. */
  readonly recorders?: readonly RequestRecorder[];
  /** Finishes work in progress. Called after the tasks have stopped, while the last requests are handled. */
  stop?(): Promise<void>;
  /** Writes what requests left in memory. Called after the last request. */
  flush?(): Promise<void>;
}
