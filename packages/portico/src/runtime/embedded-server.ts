// What a program that embeds Portico passes to `createServer` and gets from it. The declarations of the package refer to
// this file only, so that a project needs no types of the libraries that the server uses.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Rows } from "../declare/rows.ts";
import type { LogDestination } from "../http/logging/log.ts";
import type { Settings } from "./settings/settings.ts";

/** The settings of a server, with the defaults of docs/reference/settings.md, and the destination of its log. */
export interface ServerOptions extends Partial<Settings> {
  /** Receives the log as JSON lines: `process.stdout`, for example. Without it nothing is logged. */
  readonly log?: LogDestination;
}

/** Whom a program acts for: the server itself, which may do everything in the tenant, or a user. */
export interface Actor {
  /** The id of a tenant; by default the first one. */
  readonly tenant?: string;
  /** The id of a user, or the address. The policies of the user apply. */
  readonly user?: string;
}

/** A server that `createServer` composes. */
export interface Server {
  /** {base_url}: where callers reach the API. @throws Error before the server listens or is started */
  readonly url: string;
  /** The first key of a sandbox, with every scope: set by `listen` on an empty database, and stored as a hash only. */
  readonly sandboxKey: string | undefined;
  /**
   * Listens, fills an empty sandbox and starts the periodic tasks.
   * @throws Error where the port is in use; the server is closed then
   */
  listen(): Promise<void>;
  /**
   * The same without listening, for `fetch` and `handle`: fills an empty sandbox and starts the periodic tasks. The URL of
   * the server is then the setting PUBLIC_URL.
   */
  start(): Promise<void>;
  /**
   * Answers a request of this process, without a network connection. It needs a credential, as all requests do.
   *
   * @param input a URL, of which only the path counts, or a path
   * @throws Error before the server listens or is started, and after `close`
   * @example
   * const response = await server.fetch("/notes", { headers: { "X-API-Key": server.sandboxKey! } });
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /**
   * Answers a request that another HTTP server of this process received, before anything has read its body. Call `start`
   * first.
   *
   * @example
   * http.createServer((request, response) => server.handle(request, response)).listen(8080);
   */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /**
   * Runs operations on rows in one transaction, with hooks and events but without scopes. It may run again after a
   * conflict, and ends after 10 seconds.
   *
   * @throws Problem, as requests do @throws Error for a tenant or a user that does not exist
   * @example
   * const note = await server.transaction({}, (rows) => rows.create(notes, { title: "From a script" }));
   */
  transaction<T>(actor: Actor, work: (rows: Rows) => Promise<T>): Promise<T>;
  /**
   * Accepts no more connections, waits at most 10 seconds for requests in progress, writes what is still in memory, and
   * ends every timer, thread and connection of the server. Further calls wait for the first.
   */
  close(): Promise<void>;
}
