// The HTTP server that modules register their routes with: request ids, logs, limits, media types, authentication, errors.
// It registers them in one order, so the file is longer than most.

import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { Model } from "../model/model.ts";
import type { ClientAddressReader } from "../net/client-address.ts";
import { Connections, requireAdmitted } from "./connections.ts";
import { handleClientError, sendError } from "./error-response.ts";
import { trackMethods } from "./hooks/allowed-methods.ts";
import { requireAuthentication } from "./hooks/authentication.ts";
import { batchResponses } from "./hooks/batch-responses.ts";
import { type AllowedOrigins, allowPreflight, registerCors } from "./hooks/cors.ts";
import { announceDeprecations } from "./hooks/deprecation.ts";
import { handleExpectContinue } from "./hooks/expect-continue.ts";
import { handleHalfClosed } from "./hooks/half-closed.ts";
import { requireHostHeader } from "./hooks/host-header.ts";
import { refuseIgnoredKeys } from "./hooks/idempotency-key.ts";
import { acceptJsonBodies, requireAccepted } from "./hooks/media-types.ts";
import { requestId } from "./hooks/request-id.ts";
import { reportTiming, startTiming } from "./hooks/timing.ts";
import { UnreadResponses } from "./hooks/unread-responses.ts";
import type { HttpContext, HttpModule } from "./http-module.ts";
import { InProcessRequests } from "./in-process-requests.ts";
import type { Log } from "./logging/log.ts";
import type { OverloadLog } from "./logging/overload-log.ts";
import { type RequestRecorder, recordRequests } from "./logging/request-log.ts";
import { limitBodies } from "./received-bodies.ts";
import { ReceivedBytes } from "./received-bytes.ts";
import type { RequestQuotas } from "./request-quotas.ts";
import { RequestTimeouts } from "./request-timeouts.ts";
import { ListedPaths } from "./reserved-paths.ts";
import { equipRequests } from "./route.ts";
import { isWebSocketUpgrade, refuseConnect } from "./upgrade.ts";

export interface HttpServerOptions {
  readonly log: Log;
  readonly overloads: OverloadLog;
  readonly recorders: readonly RequestRecorder[];
  readonly quotas: RequestQuotas;
  /** Authenticates a request. @throws Problem */
  readonly authenticate: HttpContext["verify"] & HttpContext["authenticate"];
  /** The caller of a request without a credential from this address; undefined if such requests are refused. */
  readonly anonymousCaller: (address: string) => Promise<Caller | undefined>;
  /** Completes the refusal of a credential at a protected resource, whose path is below the public URL. */
  readonly completeRefusal: (error: unknown, resourcePath: string) => Promise<unknown>;
  /** {base_url} of the specification, without a slash at the end. */
  readonly publicUrl: string;
  /** Origins whose pages may call the API from a browser; undefined for none. */
  readonly corsOrigins: AllowedOrigins | undefined;
  /** The client's IP address. */
  readonly addressOf: ClientAddressReader;
  /** Whether `addressOf` reads the address from a header. */
  readonly isBehindProxy: boolean;
  /** Connections that may be open. */
  readonly maxConnections: number;
  /** Memory for responses that callers have not read yet. */
  readonly bufferBytes: number;
  readonly sendsServerTiming: boolean;
  readonly model: Model;
}

declare module "fastify" {
  interface FastifyRequest {
    /** The authenticated caller; set on every API route that is not open. */
    caller: Caller | undefined;
    /** When its headers were received, in milliseconds of `performance.now()`. */
    receivedAt: number;
  }
  interface FastifyContextConfig {
    /** The path of the route if it is a protected resource of its own, with metadata of its own (RFC 9728): `/mcp`. */
    resourcePath?: string;
    /** Refuses requests whatever their credential is. @throws Problem */
    beforeAuthentication?: (request: FastifyRequest) => Promise<void>;
  }
}

const bodyLimitBytes = 1024 * 1024;
/** Memory for bodies that are being received, as a share of the memory for responses. */
const receivedShare = 1 / 4;
const headerLimitBytes = 16 * 1024;
/** Time limit for receiving the headers. */
const headersTimeoutMs = 10_000;
/** Longer than the minute for which load balancers keep idle connections open. */
const keepAliveTimeoutMs = 72_000;

export interface HttpServer {
  readonly server: FastifyInstance;
  readonly inProcess: InProcessRequests;
}

/** Creates the server with the routes of all modules. It does not listen yet. */
export async function createHttpServer(
  options: HttpServerOptions,
  modules: readonly HttpModule[],
): Promise<HttpServer> {
  const server = bareServer(options.log);
  const { corsOrigins, overloads, bufferBytes } = options;
  const connections = openConnections(server, options);
  const unread = new UnreadResponses(connections, { maxUnreadBytes: bufferBytes, overloads });
  const requestTimeouts = new RequestTimeouts(server.server, connections);
  server.addHook("onClose", async () => {
    unread.stop();
    requestTimeouts.stop();
  });
  handleHalfClosed(server.server, connections);
  refuseConnect(server.server);
  server.decorateRequest("caller", undefined);
  server.decorateRequest("receivedAt", 0);
  server.setErrorHandler(sendError);

  equipRequests(server, options.log.logger);
  acceptJsonBodies(server);
  const handleUnrouted = trackMethods(server, (request, reply, methods) => {
    if (corsOrigins) allowPreflight(request, reply, methods, corsOrigins);
  });
  if (options.sendsServerTiming) startTiming(server);
  if (corsOrigins) registerCors(server, corsOrigins);
  server.addHook("onRequest", (request, reply, done) => {
    reply.header("X-Request-Id", request.id);
    requireHostHeader(request.raw);
    const connection = connections.of(request.raw.socket);
    requireAdmitted(connection);
    unread.requireCapacity(connection);
    // First: clients of MCP that ask for a stream need to know that the method is not allowed.
    if (request.is404) return handleUnrouted(request, reply);
    if (!request.route.config.ignoresAccept) requireAccepted(request);
    done();
  });
  announceDeprecations(server, options.model);
  recordRequests(server, options.log, options.recorders);
  handleExpectContinue(server);
  const received = new ReceivedBytes(bufferBytes * receivedShare, overloads);
  limitBodies(server, received);
  const inProcess = new InProcessRequests(server.server, connections);
  await registerModules(
    server,
    modules,
    contextOf(options, { received, requestTimeouts, inProcess }),
    options.anonymousCaller,
  );
  if (options.sendsServerTiming) reportTiming(server);
  batchResponses(server, (bytes) => unread.add(bytes));
  return { server, inProcess };
}

function bareServer({ logger }: Log): FastifyInstance {
  return Fastify({
    bodyLimit: bodyLimitBytes,
    // The engine validates bodies, so Fastify's schema compilers need not be loaded.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // The protocols parse queries themselves, strictly and once.
    routerOptions: { querystringParser: () => ({}) },
    // `RequestTimeouts` has one for each route.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: requestId,
    http: {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: headerLimitBytes,
      // Node would respond without a body; `requireHostHeader` explains the error.
      requireHostHeader: false,
      shouldUpgradeCallback: isWebSocketUpgrade,
    },
    clientErrorHandler: handleClientError(logger),
    frameworkErrors: sendError,
  });
}

function noSchemas(): never {
  throw new Error("no route has a Fastify schema");
}

function openConnections(
  server: FastifyInstance,
  { addressOf, isBehindProxy, maxConnections, overloads }: HttpServerOptions,
): Connections {
  return new Connections(server.server, {
    maxConnections,
    addressOf: isBehindProxy ? addressOf : undefined,
    overloads,
  });
}

async function registerModules(
  server: FastifyInstance,
  modules: readonly HttpModule[],
  context: HttpContext,
  anonymousCaller: HttpServerOptions["anonymousCaller"],
): Promise<void> {
  const listed = new ListedPaths(server);
  for (const module of modules) {
    listed.expect(module);
    // handled: Fastify awaits what it registers, and throws here what these throw.
    await server.register(async (open) => module.registerOpen?.(open, context));
  }
  // handled: as above.
  await server.register(async (routes) => {
    requireAuthentication(routes, context, anonymousCaller);
    context.quotas.countRequests(routes);
    refuseIgnoredKeys(routes);
    for (const module of modules) {
      listed.expect(module);
      await module.register?.(routes, context);
    }
  });
}

function contextOf(
  options: HttpServerOptions,
  requests: Pick<HttpContext, "received" | "requestTimeouts" | "inProcess">,
): HttpContext {
  const { quotas, addressOf, authenticate, completeRefusal, publicUrl } = options;
  return {
    ...requests,
    ...{ quotas, addressOf, callerOf },
    basePath: new URL(publicUrl).pathname.replace(/\/$/, ""),
    verify: (presented) => authenticate(presented),
    authenticate: async (presented, address, resourcePath = "") => {
      try {
        return await authenticate(presented, address);
      } catch (error) {
        throw await completeRefusal(await quotas.countFailure(error, address), resourcePath);
      }
    },
  };
}

function callerOf({ caller }: FastifyRequest): Caller {
  if (caller) return caller;
  throw new Problem("authentication_required");
}
