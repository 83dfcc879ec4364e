// GraphQL at `/graphql` over HTTP (GraphQL over HTTP, draft of 2025).

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import type { Caller } from "../../declare/caller.ts";
import type { Engine } from "../../engine/engine.ts";
import { LoggedProblem, Problem } from "../../errors.ts";
import { yieldToEventLoop } from "../../lib/time-slice.ts";
import type { EventSource } from "../../subscriptions/event-source.ts";
import { SubscriptionHub } from "../../subscriptions/hub.ts";
import type { ChargeStream } from "../../subscriptions/quota-meter.ts";
import type { GraphqlLimits } from "../document/graphql-limits.ts";
import { type GraphqlRequest, requestOfBody, requestOfTarget } from "../document/request.ts";
import { requireAnyScope } from "../document/scopes.ts";
import {
  type ChargeAnswer,
  Executor,
  failedResponse,
  type GraphqlResponse,
  type SetQuotaHeaders,
  type TakeTokens,
} from "../execute/executor.ts";
import { failureOf } from "../execute/failure.ts";
import { buildApi } from "../schema/schema.ts";
import { graphiqlPage, pageHeaders } from "./graphiql.ts";
import { serveGraphiqlFiles } from "./graphiql-files.ts";
import { type StreamAccess, Streams } from "./streams.ts";

export interface GraphqlOptions extends StreamAccess {
  readonly engine: Engine;
  readonly limits: GraphqlLimits;
  /** What stands before every path where the server is reached below a folder: `/api`. */
  readonly basePath: string;
  readonly callerOf: (request: FastifyRequest) => Caller;
  readonly takeTokens: TakeTokens;
  readonly chargeAnswer: ChargeAnswer;
  readonly chargeStream: ChargeStream;
  readonly events: EventSource;
  /** Subscriptions that a credential may have open. */
  readonly maxSubscriptions: number;
  /** Counts a request for GraphiQL, which needs no credential, for its address. @throws Problem `rate_limited` */
  readonly countFile: (request: FastifyRequest) => Promise<void>;
  /** Is told what should not have happened to an operation of a stream. */
  readonly onInternalError: (error: unknown) => void;
}

export const graphqlPath = "/graphql";
/** Below it stand the scripts and styles of GraphiQL. */
const filesPath = `${graphqlPath}/files`;

const jsonType = "application/json";
const graphqlType = "application/graphql-response+json";
const pageType = "text/html";
const streamType = "text/event-stream";
/** The first one counts where a caller accepts several alike. */
const responseTypes = [jsonType, graphqlType];
const pageOrResponseTypes = [...responseTypes, pageType];
const streamOrResponseTypes = [...responseTypes, streamType];

/** @returns what opens WebSockets */
export function registerGraphql(server: FastifyInstance, options: GraphqlOptions): Streams {
  const { engine, limits, basePath, callerOf, events, maxSubscriptions, takeTokens, chargeAnswer } = options;
  const executor = new Executor({
    api: buildApi(engine.model),
    engine,
    limits,
    takeTokens,
    chargeAnswer,
  });
  const hub = new SubscriptionHub({
    engine,
    events,
    maxSubscriptions,
    charge: options.chargeStream,
    onInternalError: options.onInternalError,
  });
  const streams = new Streams({ executor, hub, onInternalError: options.onInternalError }, options);
  // Before the server waits for its connections to end.
  server.addHook("preClose", async () => streams.close());

  // A browser that opens the path shows no credential yet; the page asks its user for one.
  const getConfig = { mediaTypes: [...pageOrResponseTypes, streamType], isOpenTo: acceptsPage };
  server.get(graphqlPath, { config: getConfig }, async (request, reply) => {
    if (!acceptsPage(request)) return respond(request, reply, () => requestOfTarget(request.url), true);
    await options.countFile(request);
    reply.headers({ ...pageHeaders });
    return graphiqlPage(request, `${basePath}${graphqlPath}`, `${basePath}${filesPath}`);
  });
  serveGraphiqlFiles(server, filesPath, options.countFile);
  server.post(graphqlPath, { config: { mediaTypes: streamOrResponseTypes } }, async (request, reply) =>
    respond(request, reply, () => takeBody(request), false),
  );

  async function respond(
    request: FastifyRequest,
    reply: FastifyReply,
    parametersOf: () => GraphqlRequest,
    isReadOnly: boolean,
  ): Promise<string | FastifyReply> {
    const caller = callerOf(request);
    try {
      requireAnyScope(caller);
      const parameters = parametersOf();
      if (parameters.isLong) await yieldToEventLoop();
      if (mayStream(request)) {
        resume(parameters, request);
        if (acceptsStream(request) || executor.isSubscription(parameters))
          return stream(request, reply, parameters, caller);
      }
      const setQuotaHeaders: SetQuotaHeaders = (quotaHeaders) => {
        reply.headers(quotaHeaders);
      };
      const answer = await executor.execute(parameters, caller, isReadOnly, setQuotaHeaders);
      return send(request, reply, answer);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return send(request, reply, failedResponse([failureOf(error)]), codesWithStatus.has(error.code));
    }
  }

  function stream(
    { method, raw }: FastifyRequest,
    reply: FastifyReply,
    operationRequest: GraphqlRequest,
    caller: Caller,
  ): FastifyReply {
    // Fastify would hold the answer back until it has ended.
    reply.hijack();
    reply.headers(streamHeaders);
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    const { headers, rawHeaders } = raw;
    const opening = { caller, headers, rawHeaders, isReadOnly: method === "GET" };
    streams.stream(operationRequest, reply.raw, opening).catch((error: unknown) => {
      options.onInternalError(error);
      reply.raw.destroy();
    });
    return reply;
  }

  return streams;
}

/** Takes the body from the request, which would hold all of it until the answer is sent. */
function takeBody(request: FastifyRequest): GraphqlRequest {
  const parameters = requestOfBody(request.body);
  request.body = undefined;
  return parameters;
}

const streamHeaders = {
  "Content-Type": `${streamType}; charset=utf-8`,
  "Cache-Control": "no-cache",
  // Proxies like nginx would gather events before they pass them on.
  "X-Accel-Buffering": "no",
};

/** Whether events are among what a caller accepts. */
function mayStream({ method, headers: { accept } }: FastifyRequest): boolean {
  return method !== "HEAD" && accept !== undefined && accept.includes(streamType);
}

/** Whether a caller would rather have events than anything else. */
function acceptsStream({ headers: { accept } }: FastifyRequest): boolean {
  return new Negotiator({ headers: { accept } }).mediaType(streamOrResponseTypes) === streamType;
}

/** Clients that are cut off name the last event that they have seen (HTML, section 9.2.4). */
function resume(given: GraphqlRequest, { headers }: FastifyRequest): void {
  const lastEventId = headers["last-event-id"];
  if (lastEventId !== undefined) given.extensions = { ...given.extensions, lastEventId };
}

/** What no GraphQL began with, and what caches and clients act on, has its status in either media type. */
const codesWithStatus: ReadonlySet<string> = new Set([
  "malformed_request",
  "method_not_allowed",
  "rate_limited",
  "unavailable",
]);

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: GraphqlResponse,
  hasOwnStatus = false,
): string {
  for (const { problem } of answer.failures) {
    if (problem.status >= 500 && !(problem instanceof LoggedProblem))
      request.log.error({ requestId: request.id, err: problem.cause ?? problem }, "request failed");
  }
  const type = typeFor(request.headers.accept);
  // Clients of plain JSON are told by `errors` alone (section 6.4.1); those of the other type by the status as well.
  if (hasOwnStatus || answer.isUnavailable || (!answer.hasData && type === graphqlType))
    reply.code(statusOf(answer)).headers(answer.failures[0]!.problem.headers);
  const already = reply.getHeader("Vary");
  reply
    .header("Content-Type", `${type}; charset=utf-8`)
    .header("Vary", already === undefined ? "Accept" : `${already}, Accept`);
  return answer.text;
}

/** Faults of a document are 400 (section 6.4.2); what is refused for other reasons has the status of its code. */
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
