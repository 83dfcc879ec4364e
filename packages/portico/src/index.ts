// The public API of Portico: what a project needs to declare and serve its resources.

import "../bin/supported-node.js";
import type { App } from "./declare/app.ts";
import type { Server, ServerOptions } from "./runtime/embedded-server.ts";

// Besides what projects name themselves, the types that their declaration files (`"declaration": true`) name.
export type { ExtendedUsers } from "./auth/users/extension.ts";
export { users } from "./auth/users/resource.ts";
export type { Action, ActionContext, CollectionAction, CollectionActionContext } from "./declare/action.ts";
export { type App, app } from "./declare/app.ts";
export type { Caller, CallerKind } from "./declare/caller.ts";
export {
  belongsTo,
  boolean,
  choice,
  computedStatus,
  count,
  date,
  decimal,
  type Field,
  type FieldShape,
  type FileValue,
  file,
  id,
  integer,
  json,
  list,
  manyToMany,
  number,
  type Presence,
  type RefersTo,
  text,
  timestamp,
} from "./declare/field.ts";
export type {
  BelongsToOptions,
  BooleanOptions,
  ChoiceOptions,
  ComputedStatusOptions,
  CountOptions,
  DateOptions,
  DecimalOptions,
  Deprecation,
  FileOptions,
  IdOptions,
  JsonOptions,
  ListOptions as ListFieldOptions,
  ManyToManyOptions,
  NumberOptions,
  StatusRule,
  TextOptions,
  TimestampOptions,
} from "./declare/field-options.ts";
export { contains, range, startsWith } from "./declare/filter.ts";
export type { BackgroundContext, HandledEvent, Handler, HandlerContext } from "./declare/handlers.ts";
export type { HookContext, Hooks, ValidationContext } from "./declare/hooks.ts";
export type { ChangesOf, InputOf, RecordOf, StoredRecordOf } from "./declare/record.ts";
export { type Declaration, type Resource, resource, type Traits } from "./declare/resource.ts";
export type { RoleDeclarations, RoleScopes } from "./declare/roles.ts";
export { type ReadRows, type Route, type RouteContext, type RouteTypes, route } from "./declare/route.ts";
export type { Count, ListOptions, Rows, SortOptions } from "./declare/rows.ts";
export type {
  AppSchedule,
  AppScheduleContext,
  ScheduleContext,
  Schedules,
  TenantSchedule,
} from "./declare/schedules.ts";
export type { LooseWhere, Operators, Policies, Policy, PolicyContext, Where } from "./declare/where.ts";
export { type Detail, type ErrorCode, type FieldError, Problem } from "./errors.ts";
export type { Actor, Server, ServerOptions } from "./runtime/embedded-server.ts";

/**
 * Composes a server in your own process, for example in a test; it does not listen yet. In sandbox mode the database is
 * migrated. The environment and `portico.config.ts` are not read, and the process is not changed, so that several servers
 * can run in it.
 *
 * @param options the settings of docs/reference/settings.md, each with its default
 * @throws Error for invalid settings or declarations, or if the database cannot be opened
 * @example
 * const server = await createServer(app, { databaseUrl: "file:./test.db", port: 0 });
 * await server.listen();
 * const response = await fetch(`${server.url}/healthz`);
 * await server.close();
 */
export async function createServer(app: App, options?: ServerOptions): Promise<Server> {
  // Every command reads the declarations; only those that serve load the server.
  const server = await import("./server.ts");
  return server.createServer(app, options);
}
