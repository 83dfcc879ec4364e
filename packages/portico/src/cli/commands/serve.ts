// portico serve

import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { Authenticator } from "../../auth/authenticator.ts";
import type { OAuthUrls } from "../../auth/tokens/access-tokens.ts";
import { Engine } from "../../engine/engine.ts";
import { OperatorError } from "../../errors.ts";
import { EventFeed } from "../../events/feed.ts";
import { createLog, type Log } from "../../http/logging/log.ts";
import { OverloadLog } from "../../http/logging/overload-log.ts";
import { createServer } from "../../http/server.ts";
import { TokenBuckets } from "../../limits/token-bucket.ts";
import { clientAddressReader } from "../../net/client-address.ts";
import { mountedAt } from "../../oauth/endpoints/issuer.ts";
import { CursorCodec } from "../../query/cursor.ts";
import { authorizationServer, tokenAuthenticator } from "../../runtime/authorization.ts";
import { startBackground } from "../../runtime/background.ts";
import { type Assembly, assemble } from "../../runtime/compose.ts";
import { requestRecording } from "../../runtime/recording.ts";
import { fillSandbox, greeting } from "../../runtime/sandbox.ts";
import { secretsFor } from "../../runtime/secrets.ts";
import { authUrl, type Settings, standardDatabaseUrl } from "../../runtime/settings.ts";
import { handleProcessEvents } from "../../runtime/shutdown.ts";
import { openStore } from "../../store/open.ts";
import { lacking, migrate } from "../../store/schema/migrate.ts";
import type { Store } from "../../store/store.ts";
import { KeyUsage } from "../../usage/key-usage.ts";
import type { Command } from "../command.ts";

const serve: Command = {
  name: "serve",
  summary: "Serve the API until SIGTERM or SIGINT.",
  options: {},
  async run(args) {
    const assembly = await assemble(args.project);
    const { app, model, settings, apiKeys } = assembly;
    const store = await openStore(settings.databaseUrl, settings);
    let server: FastifyInstance | undefined;
    try {
      await prepare(store, assembly);
      const secrets = secretsFor(settings);
      const engine = new Engine(model, store, new CursorCodec(secrets));
      const isSandbox = settings.mode === "sandbox";
      const log = await createLog(settings.logLevel);
      const overloads = new OverloadLog(log.logger);
      store.database.watch(
        (message, details) => log.logger.error(details, message),
        (what) => overloads.count(what),
      );
      const recording = requestRecording(store, model, settings, log.logger);
      // Where callers reach the server is known once it listens: PORT may leave the choice to the system.
      const urls = Promise.withResolvers<OAuthUrls>();
      const oauth = authorizationServer(store, engine, assembly, secrets, urls.promise, log.logger);
      server = await createServer({
        engine,
        keyUsage: new KeyUsage(model, store),
        database: store.database,
        authenticator: new Authenticator(
          store,
          isSandbox ? "test" : "live",
          settings.keyQuota,
          tokenAuthenticator(store, settings, oauth, log.logger),
          model.scopes,
        ),
        quotas: {
          ofKeys: new TokenBuckets(),
          ofAddresses: new TokenBuckets(),
          failedAuth: settings.failedAuthQuota,
        },
        log,
        overloads,
        graphqlLimits: settings.graphqlLimits,
        recorders: recording.recorders,
        oauth: { server: oauth, ...mountedAt(authUrl(settings, settings.publicUrl), settings.publicUrl) },
        events: new EventFeed(store, (err) =>
          log.logger.warn({ err }, "events cannot be read; it is tried again"),
        ),
        maxSubscriptions: settings.maxSubscriptions,
        publicUrl: settings.publicUrl,
        corsOrigins: settings.corsOrigins,
        addressOf: clientAddressReader(settings.trustedProxies),
        isBehindProxy: settings.trustedProxies.length > 0,
        maxConnections: settings.maxConnections,
        bufferBytes: settings.bufferBytes,
        sendsServerTiming: settings.sendsServerTiming,
      });
      await listen(server, settings, log);
      const { port } = server.server.address() as AddressInfo;
      const url = settings.port === 0 ? `http://${settings.host}:${port}` : settings.publicUrl;
      urls.resolve({ issuer: authUrl(settings, url), resource: url });
      // Not before: a key that is made by a start that then fails would never be seen.
      const key = isSandbox ? await fillSandbox(app, engine, store, apiKeys) : undefined;
      recording.start();
      const background = await startBackground(assembly, store, oauth.dependencies.mails, log.logger);
      handleProcessEvents({ server, background, recording, store, log });
      const greetingText = key === undefined ? "" : greeting(app, engine, url, key);
      process.stdout.write(args.isSet("json") ? `${JSON.stringify({ url, key })}\n` : greetingText);
      const listening = { url, host: settings.host, port, mode: settings.mode, database: store.dialect.name };
      log.logger.info(listening, `listening on ${settings.host}:${port}`);
      return undefined;
    } catch (error) {
      await server?.close();
      await store.database.close();
      throw error;
    }
  },
};

async function migrateSandbox(store: Store, tables: Assembly["tables"], settings: Settings): Promise<void> {
  await migrate(store, tables).catch((error: unknown) => {
    if (!(error instanceof OperatorError)) throw error;
    throw new OperatorError(`${error.message}\n${startOver(settings)}`);
  });
}

/** A sandbox migrates by itself; in live mode somebody decides when. */
async function prepare(store: Store, { tables, settings }: Assembly): Promise<void> {
  if (settings.mode === "sandbox") return migrateSandbox(store, tables, settings);
  const statements = await lacking(store, tables);
  if (statements.length === 0) return;
  throw new OperatorError(
    `the database lacks ${statements.length} changes; look at them with portico migrate --dry-run, then run portico migrate`,
  );
}

/** What a developer does who has replaced the declarations and needs nothing of what the sandbox holds. */
function startOver({ databaseUrl }: Settings): string {
  const what = databaseUrl === standardDatabaseUrl ? "remove data/" : "empty the database of DATABASE_URL";
  return `If you need nothing that this sandbox holds, ${what} and start again.`;
}

async function listen(server: FastifyInstance, { host, port }: Settings, { logger }: Log): Promise<void> {
  const { level } = logger;
  // Fastify would say so before the greeting is there; our own line comes behind it.
  if (logger.isLevelEnabled("info")) logger.level = "warn";
  try {
    await server.listen({ host, port });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE")
      throw new OperatorError(`port ${port} on ${host} is taken; set PORT to another one`);
    throw new OperatorError(`cannot listen on ${host}:${port}: ${(error as Error).message}`);
  } finally {
    logger.level = level;
  }
}

export const commands: readonly Command[] = [serve];
