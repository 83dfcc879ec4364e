// GraphQL over HTTP at `/graphql` (GraphQL over HTTP, draft of 2025).

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import type { ResourceRouteOptions, SetQuotaHeaders, TakeTokens } from "../../api/route-options.ts";
import type { Caller } from "../../declare/caller.ts";
import { LoggedProblem, Problem } from "../../errors.ts";
import type { EventLog } from "../../event-log/event-log.ts";
import { type IdempotentRequests, replayedHeader } from "../../idempotency/idempotent-requests.ts";
import { yieldToEventLoop } from "../../lib/time-slice.ts";
import type { UrlOfFile } from "../../query/shown-files.ts";
import type { SubscriptionHub } from "../../subscriptions/hub.ts";
import type { GraphqlLimits } from "../document/graphql-limits.ts";
import { type GraphqlRequest, requestOfBody, requestOfTarget } from "../document/request.ts";
import { requireAnyScope } from "../document/scopes.ts";
import { Executor, failedResponse, type GraphqlResponse } from "../execute/executor.ts";
import { failureOf } from "../execute/failure.ts";
import { runOnceWith } from "../execute/run-once.ts";
import { buildApi } from "../schema/schema.ts";
import { graphiqlPage, pageHeaders } from "./graphiql.ts";
import { serveGraphiqlFiles } from "./graphiql-files.ts";
import { type StreamAccess, Streams } from "./streams.ts";

export interface GraphqlOptions extends StreamAccess, ResourceRouteOptions {
  readonly eventLog: EventLog;
  readonly hub: SubscriptionHub;
  readonly idempotentRequests: IdempotentRequests;
  readonly limits: GraphqlLimits;
  readonly takeTokens: TakeTokens;
  /** The address of a file. */
  readonly fileUrl: UrlOfFile;
  /** Counts a request for GraphiQL, which needs no credential, against the client's address. @throws Problem `rate_limited` */
  readonly countFile: (request: FastifyRequest) => Promise<void>;
  /** Reports unexpected errors of streamed operations. */
  readonly onInternalError: (error: unknown) => void;
}

export const graphqlPath = "/graphql";
/** The path of the scripts and styles of GraphiQL. */
const filesPath = `${graphqlPath}/files`;

const jsonType = "application/json";
const graphqlType = "application/graphql-response+json";
const pageType = "text/html";
const streamType = "text/event-stream";
/** The first one is the default, and preferred among equals. */
const responseTypes = [jsonType, graphqlType];
const pageOrResponseTypes = [...responseTypes, pageType];
const streamOrResponseTypes = [...responseTypes, streamType];

/** Registers the routes. @returns the streams, which also open WebSockets */
export function registerGraphql(server: FastifyInstance, options: GraphqlOptions): Streams {
  const { engine, eventLog, hub, limits, basePath, callerOf, takeTokens, chargeResponse, fileUrl } = options;
  const { onInternalError } = options;
  const api = buildApi(engine.model);
  const isPublic = engine.model.hasPublicReads;
  const executor = new Executor({ api, engine, eventLog, limits, takeTokens, chargeResponse, fileUrl });
  const streams = new Streams({ executor, hub, onInternalError }, options);
  // The server waits for its connections to end after this hook.
  server.addHook("preClose", async () => streams.close());

  // A browser that opens the path has no credential yet. GraphiQL asks its user for one.
  const getConfig = { mediaTypes: [...pageOrResponseTypes, streamType], isOpenTo: acceptsPage, isPublic };
  server.get(graphqlPath, { config: getConfig }, async (request, reply) => {
    if (!acceptsPage(request)) return respond(request, reply, () => requestOfTarget(request.url), true);
    await options.countFile(request);
    reply.headers({ ...pageHeaders });
    return graphiqlPage(request, `${basePath}${graphqlPath}`, `${basePath}${filesPath}`);
  });
  serveGraphiqlFiles(server, filesPath, options.countFile);
  server.post(
    graphqlPath,
    { config: { mediaTypes: streamOrResponseTypes, isPublic, takesIdempotencyKey: true } },
    async (request, reply) => respond(request, reply, () => takeBody(request), false),
  );

  async function respond(
    request: FastifyRequest,
    reply: FastifyReply,
    parseRequest: () => GraphqlRequest,
    isReadOnly: boolean,
  ): Promise<string | FastifyReply> {
    const caller = callerOf(request);
    try {
      if (caller.kind !== "anonymous" || !isPublic) requireAnyScope(caller);
      const operation = parseRequest();
      if (operation.isLong) await yieldToEventLoop();
      const key = request.headers["idempotency-key"];
      if (mayStream(request)) {
        setLastEventId(operation, request);
        if (acceptsStream(request) || executor.isSubscription(operation)) {
          requireAnyScope(caller);
          if (key !== undefined && !executor.isSubscription(operation)) throw keyOfStream();
          return stream(request, reply, operation, caller);
        }
      }
      const setQuotaHeaders: SetQuotaHeaders = (quotaHeaders) => {
        reply.headers(quotaHeaders);
      };
      const onReplay = (): void => void reply.headers(replayedHeader);
      const runOnce =
        key === undefined
          ? undefined
          : runOnceWith(options.idempotentRequests, caller, String(key), operation, onReplay);
      const response = await executor.execute(operation, caller, isReadOnly, setQuotaHeaders, runOnce);
      return send(request, reply, response);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return send(request, reply, failedResponse([failureOf(error)]), codesWithStatus.has(error.code));
    }
  }

  function stream(
    { method, raw }: FastifyRequest,
    reply: FastifyReply,
    operation: GraphqlRequest,
    caller: Caller,
  ): FastifyReply {
    // Fastify would buffer the response until it has ended.
    reply.hijack();
    reply.headers(streamHeaders);
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    const { headers, rawHeaders } = raw;
    const opening = { caller, headers, rawHeaders, isReadOnly: method === "GET" };
    streams.stream(operation, reply.raw, opening).catch((error: unknown) => {
      onInternalError(error);
      reply.raw.destroy();
    });
    return reply;
  }

  return streams;
}

/** Parses the body and removes it from the request, which would hold it until the response is sent. */
function takeBody(request: FastifyRequest): GraphqlRequest {
  const operation = requestOfBody(request.body);
  request.body = undefined;
  return operation;
}

const streamHeaders = {
  "Content-Type": `${streamType}; charset=utf-8`,
  "Cache-Control": "no-cache",
  // Tells nginx not to buffer events.
  "X-Accel-Buffering": "no",
};

/** Whether a caller accepts an event stream. */
function mayStream({ method, headers: { accept } }: FastifyRequest): boolean {
  return method !== "HEAD" && accept !== undefined && accept.includes(streamType);
}

/** Whether a caller prefers an event stream. */
function acceptsStream({ headers: { accept } }: FastifyRequest): boolean {
  return new Negotiator({ headers: { accept } }).mediaType(streamOrResponseTypes) === streamType;
}

/** Clients that reconnect send the id of the last event they received (HTML, section 9.2.4). */
function setLastEventId(operation: GraphqlRequest, { headers }: FastifyRequest): void {
  const lastEventId = headers["last-event-id"];
  if (lastEventId !== undefined) operation.extensions = { ...operation.extensions, lastEventId };
}

function keyOfStream(): Problem {
  const message = "A response with `Accept: text/event-stream` cannot be repeated by its `Idempotency-Key`.";
  return new Problem("malformed_request", message);
}

/**
 * Errors with an HTTP status of their own in both media types: those of requests that are not GraphQL, and those that
 * clients and caches handle by status.
 */
const codesWithStatus: ReadonlySet<string> = new Set([
  "malformed_request",
  "idempotency_key_required",
  "idempotency_in_progress",
  "idempotency_key_reused",
  "authentication_required",
  "method_not_allowed",
  "rate_limited",
  "unavailable",
]);

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  response: GraphqlResponse,
  hasOwnStatus = false,
): string {
  for (const { problem } of response.failures) {
    if (problem.status >= 500 && !(problem instanceof LoggedProblem))
      request.log.error({ requestId: request.id, err: problem.cause ?? problem }, "request failed");
  }
  const type = typeFor(request.headers.accept);
  // In plain JSON, errors of the operation have status 200 (section 6.4.1). The other type has error statuses.
  if (hasOwnStatus || response.isUnavailable || (!response.hasData && type === graphqlType))
    reply.code(statusOf(response)).headers(response.failures[0]!.problem.headers);
  const vary = reply.getHeader("Vary");
  reply
    .header("Content-Type", `${type}; charset=utf-8`)
    .header("Vary", vary === undefined ? "Accept" : `${vary}, Accept`);
  return response.text;
}

/** Errors of a document are 400 (section 6.4.2). Other errors have the status of their code. */
function statusOf({ failures }: GraphqlResponse): number {
  const { problem } = failures[0]!;
  return problem.code === "validation_error" ? 400 : problem.status;
}

function acceptsPage({ headers: { accept } }: FastifyRequest): boolean {
  if (accept === undefined || !accept.includes(pageType)) return false;
  return new Negotiator({ headers: { accept } }).mediaType(pageOrResponseTypes) === pageType;
}

function typeFor(accept: string | undefined): string {
  if (accept === undefined || accept === "*/*" || accept === jsonType) return jsonType;
  return new Negotiator({ headers: { accept } }).mediaType(responseTypes) ?? jsonType;
}
