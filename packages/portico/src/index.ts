// The public API of Portico: what a project needs to declare and serve its resources.

import type { App } from "./declare/app.ts";
import type { Server, ServerOptions } from "./runtime/embedded-server.ts";

export { users } from "./auth/users/resource.ts";
export { type App, app } from "./declare/app.ts";
export type { Caller, CallerKind } from "./declare/caller.ts";
export {
  belongsTo,
  boolean,
  choice,
  computedStatus,
  id,
  integer,
  json,
  list,
  number,
  text,
  timestamp,
} from "./declare/field.ts";
export type { Deprecation, StatusRule } from "./declare/field-options.ts";
export { contains, range, startsWith } from "./declare/filter.ts";
export type { ChangesOf, InputOf, RecordOf } from "./declare/record.ts";
export {
  type Action,
  type Declaration,
  type HookContext,
  type Hooks,
  type Resource,
  type Rows,
  resource,
  type ValidationContext,
} from "./declare/resource.ts";
export type { RoleDeclarations, RoleScopes } from "./declare/roles.ts";
export type { LooseWhere, Operators, Policies, Policy, PolicyContext, Where } from "./declare/where.ts";
export { type Detail, type ErrorCode, type FieldError, Problem } from "./errors.ts";
export type { Server, ServerOptions } from "./runtime/embedded-server.ts";

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
