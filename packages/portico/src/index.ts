// The public API of Portico: what a project needs to declare and serve its resources.

import type { App } from "./declare/app.ts";
import type { PorticoServer, ServerOptions } from "./server.ts";

export { users } from "./auth/users/resource.ts";
export { type App, app } from "./declare/app.ts";
export type { Caller } from "./declare/caller.ts";
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
export type { ChangesOf, InputOf, RecordOf } from "./declare/record.ts";
export {
  type Action,
  type Declaration,
  type HookContext,
  type Hooks,
  type Resource,
  type RowFilter,
  type Rows,
  range,
  resource,
  type ValidationContext,
} from "./declare/resource.ts";
export { type Detail, type ErrorCode, type FieldError, Problem } from "./errors.ts";

/** A server that `createServer` composes. */
export type Server = Pick<PorticoServer, "url" | "sandboxKey" | "listen" | "close">;
export type { ServerOptions } from "./server.ts";

/**
 * Composes a server inside of your own process, for example in a test; it does not listen yet. In sandbox mode the
 * database is migrated. Neither the environment nor `portico.config.ts` is read, and nothing of the process is changed,
 * so that several servers can run beside each other.
 *
 * @param options the settings of docs/reference/settings.md, each with its default
 * @throws Error for invalid settings or declarations, and for a database that cannot be opened
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
