// The HTTP server around the protocols: request ids, logs, sizes, media types, identity, errors, time-outs.

import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import type { ChargeAnswer } from "../api/route-options.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Caller, Quota } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { Problem } from "../errors.ts";
import type { EventFeed } from "../events/feed.ts";
import type { GraphqlLimits } from "../graphql/document/graphql-limits.ts";
import type { PresentedHeaders } from "../graphql/subscriptions/credential-watcher.ts";
import { graphqlPath, registerGraphql } from "../graphql/transports/http.ts";
import type { StreamAccess } from "../graphql/transports/streams.ts";
import type { Quotas } from "../limits/quota.ts";
import type { ClientAddressReader } from "../net/client-address.ts";
import { registerGrantRoutes } from "../oauth/account/grant-routes.ts";
import { type Issuer, issuerOf } from "../oauth/endpoints/issuer.ts";
import { withResourceMetadata } from "../oauth/endpoints/resource-metadata.ts";
import { type OAuthOptions, registerOAuth } from "../oauth/endpoints/routes.ts";
import { type RestOptions, registerRest } from "../rest/routes.ts";
import type { Database } from "../store/database.ts";
import { SubscriptionHub } from "../subscriptions/hub.ts";
import { type KeyUsage, keyUsageReport } from "../usage/key-usage.ts";
import { answerClientError, sendError } from "./answer-error.ts";
import { limitBodies } from "./bodies.ts";
import { Connections, requireAdmitted } from "./connections.ts";
import { registerFrontPage } from "./front-page.ts";
import { registerHealth } from "./health.ts";
import { type AllowedOrigins, allowPreflight, registerCors } from "./hooks/cors.ts";
import { refuseCredentialInQuery } from "./hooks/credential-in-query.ts";
import { batchResponses } from "./hooks/departure.ts";
import { handleExpectContinue } from "./hooks/expectation.ts";
import { handleHalfClosed } from "./hooks/half-closed.ts";
import { requireHostHeader } from "./hooks/host.ts";
import { trackMethods } from "./hooks/methods.ts";
import { acceptJsonBodies, requireAccepted } from "./hooks/negotiate.ts";
import {
  chargeAnswer,
  chargeStream,
  countFile,
  countOperation,
  countRequests,
  failedAuthentication,
  takeCost,
} from "./hooks/quota.ts";
import { requestId } from "./hooks/request-id.ts";
import { reportTiming, startTiming } from "./hooks/timing.ts";
import { UnreadResponses } from "./hooks/unread-answers.ts";
import type { Log } from "./logging/log.ts";
import type { OverloadLog } from "./logging/overload-log.ts";
import { credentialOf, type RequestRecorder, recordRequests } from "./logging/request-log.ts";
import { OwnPaths } from "./own-paths.ts";
import { ReceivedBytes } from "./received-bytes.ts";
import { equipRequests } from "./route.ts";
import { handleUpgrades, isWebSocketUpgrade, refuseConnect } from "./upgrade.ts";

export interface ServerDependencies {
  readonly engine: Engine;
  readonly keyUsage: KeyUsage;
  readonly database: Database;
  readonly authenticator: Authenticator;
  readonly quotas: CountedQuotas;
  readonly log: Log;
  readonly overloads: OverloadLog;
  readonly graphqlLimits: GraphqlLimits;
  /** Those who keep something of each request that was answered. */
  readonly recorders: readonly RequestRecorder[];
  readonly oauth: Omit<OAuthOptions, "addressOf">;
  readonly events: EventFeed;
  /** Subscriptions that a credential may have open. */
  readonly maxSubscriptions: number;
  /** {base_url} of the specification, without a slash at its end. */
  readonly publicUrl: string;
  /** Origins whose pages may call the API from a browser; undefined for none. */
  readonly corsOrigins: AllowedOrigins | undefined;
  /** Where a request comes from. */
  readonly addressOf: ClientAddressReader;
  /** Whether requests come through proxies that say for whom. */
  readonly isBehindProxy: boolean;
  /** Connections that may be open. */
  readonly maxConnections: number;
  /** Memory for what is on its way: answers that are not read yet. */
  readonly bufferBytes: number;
  /** Whether answers tell the time that each stage took. */
  readonly sendsServerTiming: boolean;
}

/** Two stores: whoever fills the one of addresses displaces no key's bucket. */
export interface CountedQuotas {
  readonly ofKeys: Quotas;
  readonly ofAddresses: Quotas;
  /** What an address may do of failed authentication. */
  readonly failedAuth: Quota;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Who sends the request; known in every API route. */
    caller: Caller | undefined;
  }
}

const bodyLimitBytes = 1024 * 1024;
/** Of the memory for what is on its way, as much again may be bodies that are being received. */
const receivedShare = 1 / 4;
const headerLimitBytes = 16 * 1024;
/** How long a caller may take to send the headers, and the whole request. */
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 30_000;
/** Longer than the minute for which load balancers keep idle connections. */
const keepAliveTimeoutMs = 72_000;

/** The server, with every route; it listens when told to. */
export async function createHttpServer(dependencies: ServerDependencies): Promise<FastifyInstance> {
  const server = Fastify({
    bodyLimit: bodyLimitBytes,
    // Bodies are checked by the engine, so that Fastify's own compilers need not be loaded.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // The protocols parse queries themselves, strictly and once.
    routerOptions: { querystringParser: () => ({}) },
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: requestId,
    http: {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: headerLimitBytes,
      // Node would answer without a body; `requireHostHeader` says what is wrong.
      requireHostHeader: false,
      shouldUpgradeCallback: isWebSocketUpgrade,
    },
    clientErrorHandler: answerClientError(dependencies.log.logger),
    frameworkErrors: sendError,
  });
  const ownPaths = new OwnPaths(server, dependencies.oauth.mount);
  const { overloads } = dependencies;
  const connections = openConnections(server, dependencies, overloads);
  const unread = new UnreadResponses(connections, { maxUnreadBytes: dependencies.bufferBytes, overloads });
  server.addHook("onClose", async () => unread.stop());
  handleHalfClosed(server.server, connections);
  refuseConnect(server.server);
  server.decorateRequest("caller", undefined);
  server.setErrorHandler(sendError);

  equipRequests(server, dependencies.log.logger);
  acceptJsonBodies(server);
  const { corsOrigins } = dependencies;
  const answerUnrouted = trackMethods(server, (request, reply, methods) => {
    if (corsOrigins) allowPreflight(request, reply, methods, corsOrigins);
  });
  if (dependencies.sendsServerTiming) startTiming(server);
  if (corsOrigins) registerCors(server, corsOrigins);
  server.addHook("onRequest", (request, reply, done) => {
    reply.header("X-Request-Id", request.id);
    requireHostHeader(request.raw);
    const connection = connections.of(request.raw.socket);
    requireAdmitted(connection);
    unread.requireCapacity(connection);
    if (!request.route.config.ignoresAccept) requireAccepted(request);
    if (request.is404) answerUnrouted(request, reply);
    else done();
  });
  recordRequests(server, dependencies.log, dependencies.recorders);
  registerHealth(server, dependencies.database);
  registerFrontPage(server, siteOf(dependencies.oauth.server), ({ raw }) =>
    countFile(dependencies.quotas.ofAddresses, dependencies.addressOf(raw)),
  );
  handleExpectContinue(server);
  const received = new ReceivedBytes(dependencies.bufferBytes * receivedShare, overloads);
  limitBodies(server, received);
  await server.register(
    // handled: Fastify awaits what it registers, and throws here what these throw.
    async (oauth) => registerOAuth(oauth, { ...dependencies.oauth, addressOf: dependencies.addressOf }),
  );
  await server.register(
    // handled: as above.
    async (scope) => registerProtocols(scope, dependencies, ownPaths, received),
  );
  if (dependencies.sendsServerTiming) reportTiming(server);
  batchResponses(server, (bytes) => unread.add(bytes));
  return server;
}

/** Who may be connected. */
function openConnections(
  server: FastifyInstance,
  { addressOf, isBehindProxy, maxConnections }: ServerDependencies,
  overloads: OverloadLog,
): Connections {
  return new Connections(server.server, {
    maxConnections,
    addressOf: isBehindProxy ? addressOf : undefined,
    overloads,
  });
}

async function siteOf({ dependencies: { urls, brand, scopes } }: OAuthOptions["server"]): Promise<Issuer> {
  return issuerOf(await urls, brand, scopes);
}

function noSchemas(): never {
  throw new Error("no route has a schema of Fastify's");
}

/** Registers the API routes. Every request to them is authenticated. */
function registerProtocols(
  routes: FastifyInstance,
  dependencies: ServerDependencies,
  ownPaths: OwnPaths,
  received: ReceivedBytes,
): void {
  const { engine, authenticator, quotas, oauth, publicUrl, log } = dependencies;
  const { graphqlLimits, events, maxSubscriptions, addressOf } = dependencies;
  const verify = (presented: PresentedHeaders): Promise<Caller> => authenticator.caller(presented);
  const authenticate = async (presented: PresentedHeaders, address: string): Promise<Caller> => {
    try {
      return await authenticator.caller(presented, address);
    } catch (error) {
      const refusal = await failedAuthentication(error, address, quotas.ofAddresses, quotas.failedAuth);
      throw await withResourceMetadata(refusal, oauth);
    }
  };
  routes.addHook("onRequest", (request, _reply, done) => {
    refuseCredentialInQuery(request.url);
    if (request.route.config.isOpenTo?.(request)) return done();
    const known = (caller: Caller): void => {
      request.caller = caller;
      done();
    };
    authenticate(request.raw, addressOf(request.raw)).then(known, done);
  });
  countRequests(routes, quotas.ofKeys);
  const basePath = new URL(publicUrl).pathname.replace(/\/$/, "");
  registerGrantRoutes(routes, { server: oauth.server, basePath, callerOf });
  const count = (caller: Caller): Promise<void> => countOperation(quotas.ofKeys, caller);
  const charge: ChargeAnswer = (...charging) => chargeAnswer(quotas.ofKeys, ...charging);
  const logSocket: StreamAccess["logSocket"] = (line, caller) =>
    log.logger.info({ ...line, ...(caller && credentialOf(caller)) }, "web socket closed");
  const onInternalError = (err: unknown): void => log.logger.error({ err }, "operation of a stream failed");
  const hub = new SubscriptionHub({
    ...{ engine, events, maxSubscriptions, onInternalError },
    charge: (...charging) => chargeStream(quotas.ofKeys, ...charging),
  });
  const streams = registerGraphql(routes, {
    ...{ engine, hub, limits: graphqlLimits, basePath, callerOf },
    ...{ addressOf, authenticate, verify, count, logSocket, onInternalError },
    receive: (refuse) => received.begin(refuse),
    countFile: ({ raw }) => countFile(quotas.ofAddresses, addressOf(raw)),
    takeTokens: (...taking) => takeCost(quotas.ofKeys, ...taking),
    chargeAnswer: charge,
  });
  handleUpgrades(routes.server, graphqlPath, (...opening) => streams.openSocket(...opening));
  ownPaths.complete();
  registerRest(routes, {
    ...{ engine, reports: reportsOf(dependencies.keyUsage), basePath, callerOf },
    chargeAnswer: charge,
  });
}

function reportsOf(keyUsage: KeyUsage): RestOptions["reports"] {
  return { [keyUsageReport.id]: (...request) => keyUsage.read(...request) };
}

function callerOf({ caller }: FastifyRequest): Caller {
  if (caller) return caller;
  throw new Problem("authentication_required");
}
