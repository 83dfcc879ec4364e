// Composes a server. `portico serve`, the tests, the bench and programs that embed Portico all start here.
// The life of a server is one class, so the file is longer than most.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { AnonymousCallers } from "./auth/anonymous/anonymous-callers.ts";
import { Authenticator } from "./auth/authenticator.ts";
import type { Principals } from "./auth/principal.ts";
import type { OAuthUrls } from "./auth/tokens/oauth-urls.ts";
import type { App } from "./declare/app.ts";
import type { Rows } from "./declare/rows.ts";
import { Engine } from "./engine/engine.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "./http/http-server.ts";
import type { InProcessRequests } from "./http/in-process-requests.ts";
import { listenOn } from "./http/listen.ts";
import { createLog, type Log } from "./http/logging/log.ts";
import { OverloadLog } from "./http/logging/overload-log.ts";
import { AllSteps } from "./lib/all-steps.ts";
import { withResourceMetadata } from "./oauth/endpoints/resource-metadata.ts";
import { CursorCodec } from "./query/cursor.ts";
import { callerOfActor } from "./runtime/actor.ts";
import { tokenAuthenticator } from "./runtime/authorization.ts";
import { type Assembly, composeApp, openDatabase } from "./runtime/compose.ts";
import type { Actor, Server, ServerOptions } from "./runtime/embedded-server.ts";
import { httpSettings } from "./runtime/http-settings.ts";
import { migrateAtStart } from "./runtime/migrate-at-start.ts";
import { RunningModules } from "./runtime/running-modules.ts";
import { fillSandbox } from "./runtime/sandbox.ts";
import { secretsFor } from "./runtime/secrets.ts";
import { serverContext } from "./runtime/server-context.ts";
import { authUrl, completeSettings, publicTenantOf } from "./runtime/settings/settings.ts";
import type { Migration } from "./store/schema/migrate.ts";
import type { Store } from "./store/store.ts";

/** How long requests in progress may take once the server is closed. */
const requestTimeoutMs = 10_000;
const closeIdleIntervalMs = 20;

/**
 * Opens the database and composes a server, which does not listen yet. In sandbox mode the database is migrated. The
 * environment and `portico.config.ts` are not read, and no process-level handler is installed, so that several servers
 * can run in one process.
 *
 * @example
 * const server = await createServer(app, { databaseUrl: "file:./test.db", port: 0 });
 * await server.listen();
 * await fetch(`${server.url}/healthz`);
 * await server.close();
 * @throws OperatorError for invalid settings or declarations, or if the database cannot be opened
 */
export async function createServer(app: App, { log, ...values }: ServerOptions = {}): Promise<PorticoServer> {
  return createComposedServer(composeApp(app, completeSettings(values, app.settings)), log);
}

/** The same for an app that is already composed. */
export async function createComposedServer(
  assembly: Assembly,
  log: ServerOptions["log"],
): Promise<PorticoServer> {
  const { settings } = assembly;
  const store = await openDatabase(settings);
  let server: PorticoServer | undefined;
  try {
    const migration = await migrateAtStart(store, assembly);
    server = new PorticoServer(assembly, store, createLog(settings.logLevel, log));
    server.migration = migration;
    await server.prepare();
    return server;
  } catch (error) {
    // The error that prevented the start is the one to report.
    await (server ? server.close() : store.database.close()).catch(() => {});
    throw error;
  }
}

export class PorticoServer implements Server {
  readonly assembly: Assembly;
  readonly store: Store;
  readonly engine: Engine;
  readonly log: Log;
  /** The first key of a sandbox, with every scope: set by `listen` on an empty database, and stored as a hash only. */
  sandboxKey: string | undefined;
  /** What was migrated at the start of a sandbox. */
  migration: Migration | undefined;
  readonly #secrets: readonly string[];
  readonly #urls = Promise.withResolvers<OAuthUrls>();
  #http: HttpServer | undefined;
  #principals: Principals | undefined;
  #modules: RunningModules | undefined;
  #url: string | undefined;
  /** The work of `listen` or `start`. */
  #beginning: Promise<void> | undefined;
  #hasPort = true;
  #closed: Promise<void> | undefined;

  constructor(assembly: Assembly, store: Store, log: Log) {
    const { model, settings } = assembly;
    this.assembly = assembly;
    this.store = store;
    this.log = log;
    this.#secrets = secretsFor(settings);
    this.engine = new Engine(model, store, new CursorCodec(this.#secrets));
  }

  /** Starts the modules and registers their routes. */
  async prepare(): Promise<void> {
    const { store, log, assembly } = this;
    const { logger } = log;
    const { settings, modules } = assembly;
    const anonymous = new AnonymousCallers(store, publicTenantOf(settings), settings.keyQuota);
    await anonymous.requireTenant();
    const overloads = new OverloadLog(logger);
    store.database.watch(
      (message, details) => logger.error(details, message),
      (what) => overloads.count(what),
    );
    const context = await serverContext(assembly, store, this.engine, log, this.#secrets, this.#urls.promise);
    const { oauth, quotas } = context;
    this.#principals = context.principals;
    this.#modules = await RunningModules.create(modules, context);
    const authenticator = new Authenticator(
      store,
      settings.mode === "sandbox" ? "test" : "live",
      settings.keyQuota,
      tokenAuthenticator(store, settings, oauth.server, logger),
      assembly.model,
    );
    const options: HttpServerOptions = {
      ...{ log, overloads, quotas },
      recorders: this.#modules.recorders,
      authenticate: (presented, address?: string) => authenticator.caller(presented, address),
      anonymousCaller: (address) => anonymous.caller(address),
      completeRefusal: (error, resourcePath) => withResourceMetadata(error, oauth, resourcePath),
      ...httpSettings(settings),
      model: this.assembly.model,
    };
    this.#http = await createHttpServer(options, this.#modules.http);
  }

  get url(): string {
    if (this.#url !== undefined) return this.#url;
    throw new Error("the server has no URL before it listens or is started");
  }

  /**
   * Listens, fills an empty sandbox and starts the periodic tasks. Further calls wait for the first.
   * @throws OperatorError if the port is in use; the server is then closed
   * @throws Error after `close`
   */
  async listen(): Promise<void> {
    if (!this.#hasPort) throw new Error("the server was started without listening; create another one");
    return this.#begin(() => this.#listen());
  }

  async start(): Promise<void> {
    if (!this.#beginning) this.#hasPort = false;
    return this.#begin(() => this.#serve(this.assembly.settings.publicUrl));
  }

  async #begin(begin: () => Promise<void>): Promise<void> {
    if (this.#closed) throw new Error("the server is closed; create another one");
    this.#beginning ??= begin();
    try {
      await this.#beginning;
    } catch (error) {
      // The error that prevented the start is the one to report.
      await this.close().catch((err: unknown) => this.log.logger.error({ err }, "closing failed"));
      throw error;
    }
  }

  async #listen(): Promise<void> {
    const { settings } = this.assembly;
    const { server } = this.#http!;
    await listenOn(server, settings);
    const { port } = server.server.address() as AddressInfo;
    await this.#serve(settings.port === 0 ? `http://${settings.host}:${port}` : settings.publicUrl);
  }

  async #serve(url: string): Promise<void> {
    const { assembly, store, engine } = this;
    const { app, settings, apiKeys } = assembly;
    await this.#http!.server.ready();
    this.#url = url;
    this.#urls.resolve({ issuer: authUrl(settings, url), resource: url });
    // After listening: if the port is in use, the key would be stored but never shown.
    if (settings.mode === "sandbox") this.sandboxKey = await fillSandbox(app, engine, store, apiKeys);
    this.#modules!.startTasks();
  }

  /** Logs where the server listens. */
  logListening(): void {
    const { settings } = this.assembly;
    const { port } = this.#http!.server.server.address() as AddressInfo;
    const { host, mode } = settings;
    const details = { url: this.url, host, port, mode, database: this.store.dialect.name };
    this.log.logger.info(details, `listening on ${host}:${port}`);
  }

  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(typeof input === "string" ? new URL(input, this.url) : input, init);
    return this.#http!.inProcess.fetch(request);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    if (this.#url === undefined) throw new Error("start the server before it handles requests");
    this.#http!.inProcess.handle(request, response);
  }

  /** Requests that do not arrive at its port. */
  get inProcess(): InProcessRequests {
    return this.#http!.inProcess;
  }

  async transaction<T>(actor: Actor, work: (rows: Rows) => Promise<T>): Promise<T> {
    const { store, engine } = this;
    const caller = await callerOfActor(store, engine.model, this.#principals!, actor);
    return engine.writeAtomically(caller, (writes) =>
      writes.runCode(caller, new Date().toISOString(), (rows) =>
        work(caller.kind === "system" ? rows.unrestricted : rows),
      ),
    );
  }

  /**
   * Waits for a call of `listen` in progress. Then accepts no more connections, waits at most 10 seconds for requests in
   * progress, writes what is still in memory, and ends every timer, thread and connection of the server. Further calls
   * wait for the first.
   * @throws the error of a step that failed, once all others are done
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // Otherwise `listen` would open the port of a server that is already closed.
    await this.#beginning?.catch(() => {});
    // Undefined if the server could not be prepared.
    const http = this.#http?.server;
    const timeout = setTimeout(() => http?.server.closeAllConnections(), requestTimeoutMs);
    // Connections that were busy at first are idle once their requests are answered.
    const closing = setInterval(() => http?.server.closeIdleConnections(), closeIdleIntervalMs);
    const steps = new AllSteps();
    await Promise.all([
      steps.run(() => http?.close()),
      steps.run(() => this.#http?.inProcess.close(requestTimeoutMs)),
      steps.run(() => this.#modules?.stop()),
    ]);
    clearInterval(closing);
    clearTimeout(timeout);
    await steps.run(() => this.#modules?.flush());
    await steps.run(() => this.store.database.close());
    if (this.#url !== undefined) this.log.logger.info("stopped");
    await steps.run(() => this.log.flush());
    steps.end();
  }
}
