// What a program that embeds Portico passes to `createServer` and gets from it. The declarations of the package refer to
// this file only, so that a project needs no types of the libraries that the server uses.

import type { LogDestination } from "../http/logging/log.ts";
import type { Settings } from "./settings/settings.ts";

/** The settings of a server, with the defaults of docs/reference/settings.md, and the destination of its log. */
export interface ServerOptions extends Partial<Settings> {
  /** Receives the log as JSON lines: `process.stdout`, for example. Without it nothing is logged. */
  readonly log?: LogDestination;
}

/** A server that `createServer` composes. */
export interface Server {
  /** {base_url}: where callers reach the API. @throws Error before the server listens */
  readonly url: string;
  /** The first key of a sandbox, with every scope: set by `listen` on an empty database, and stored as a hash only. */
  readonly sandboxKey: string | undefined;
  /**
   * Listens, fills an empty sandbox and starts the periodic tasks.
   * @throws Error where the port is in use; the server is closed then
   */
  listen(): Promise<void>;
  /**
   * Accepts no more connections, waits at most 10 seconds for requests in progress, writes what is still in memory, and
   * ends every timer, thread and connection of the server. Further calls wait for the first.
   */
  close(): Promise<void>;
}
