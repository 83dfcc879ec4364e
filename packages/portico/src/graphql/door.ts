// The GraphQL door: `/graphql` over HTTP (GraphQL over HTTP, draft of 2025).

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { LoggedProblem, Problem } from "../errors.ts";
import type { CursorCodec } from "../plan/cursor.ts";
import {
  Answerer,
  type ChargeAnswer,
  type GraphqlAnswer,
  refused,
  type TakeTokens,
  type TellLeft,
} from "./answer.ts";
import type { GraphqlLimits } from "./bounds.ts";
import type { EventSource } from "./event-source.ts";
import { failureOf } from "./failure.ts";
import { graphiqlPage, pageHeaders } from "./graphiql.ts";
import { serveGraphiqlFiles } from "./graphiql-files.ts";
import type { ChargeStream } from "./meter.ts";
import { nextTurn } from "./pause.ts";
import { type GraphqlRequest, requestOfBody, requestOfTarget } from "./request.ts";
import { buildApi } from "./schema.ts";
import { requireAnyScope } from "./scopes.ts";
import { type StreamAccess, Streams } from "./streams.ts";
import { Subscribers } from "./subscribers.ts";

export interface GraphqlDoor extends StreamAccess {
  readonly engine: Engine;
  readonly cursors: CursorCodec;
  readonly limits: GraphqlLimits;
  /** What stands before every path where the server is reached below a folder: `/api`. */
  readonly basePath: string;
  readonly callerOf: (request: FastifyRequest) => Caller;
  readonly takeTokens: TakeTokens;
  readonly chargeAnswer: ChargeAnswer;
  readonly chargeStream: ChargeStream;
  readonly events: EventSource;
  /** Subscriptions that a credential may have open. */
  readonly mostSubscriptions: number;
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
const answerTypes = [jsonType, graphqlType];
const pageOrAnswerTypes = [...answerTypes, pageType];
const streamOrAnswerTypes = [...answerTypes, streamType];

/** @returns what opens WebSockets */
export function registerGraphql(server: FastifyInstance, door: GraphqlDoor): Streams {
  const { engine, cursors, limits, basePath, callerOf, events, mostSubscriptions, takeTokens, chargeAnswer } =
    door;
  const answerer = new Answerer({
    api: buildApi(engine.model),
    engine,
    cursors,
    limits,
    takeTokens,
    chargeAnswer,
  });
  const subscribers = new Subscribers({
    engine,
    events,
    mostSubscriptions,
    charge: door.chargeStream,
    onInternalError: door.onInternalError,
  });
  const streams = new Streams({ answerer, subscribers, onInternalError: door.onInternalError }, door);
  // Before the server waits for its connections to end.
  server.addHook("preClose", async () => streams.close());

  // A browser that opens the path shows no credential yet; the page asks its user for one.
  const getConfig = { mediaTypes: [...pageOrAnswerTypes, streamType], isOpenTo: asksForPage };
  server.get(graphqlPath, { config: getConfig }, async (request, reply) => {
    if (!asksForPage(request)) return respond(request, reply, () => requestOfTarget(request.url), true);
    await door.countFile(request);
    reply.headers({ ...pageHeaders });
    return graphiqlPage(request, `${basePath}${graphqlPath}`, `${basePath}${filesPath}`);
  });
  serveGraphiqlFiles(server, filesPath, door.countFile);
  server.post(graphqlPath, { config: { mediaTypes: streamOrAnswerTypes } }, async (request, reply) =>
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
      if (parameters.isLong) await nextTurn();
      if (mayStream(request)) {
        resume(parameters, request);
        if (asksForStream(request) || answerer.isSubscription(parameters))
          return stream(request, reply, parameters, caller);
      }
      const tellLeft: TellLeft = (left) => {
        reply.headers(left);
      };
      const answer = await answerer.answer(parameters, caller, isReadOnly, tellLeft);
      return send(request, reply, answer);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return send(request, reply, refused([failureOf(error)]), ownStatus.has(error.code));
    }
  }

  function stream(
    { method, raw }: FastifyRequest,
    reply: FastifyReply,
    given: GraphqlRequest,
    caller: Caller,
  ): FastifyReply {
    // Fastify would hold the answer back until it has ended.
    reply.hijack();
    reply.headers(streamHeaders);
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    const { headers, rawHeaders } = raw;
    const opening = { caller, headers, rawHeaders, isReadOnly: method === "GET" };
    streams.stream(given, reply.raw, opening).catch((error: unknown) => {
      door.onInternalError(error);
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
function asksForStream({ headers: { accept } }: FastifyRequest): boolean {
  return new Negotiator({ headers: { accept } }).mediaType(streamOrAnswerTypes) === streamType;
}

/** Clients that are cut off name the last event that they have seen (HTML, section 9.2.4). */
function resume(given: GraphqlRequest, { headers }: FastifyRequest): void {
  const lastEventId = headers["last-event-id"];
  if (lastEventId !== undefined) given.extensions = { ...given.extensions, lastEventId };
}

/** What no GraphQL began with, and what caches and clients act on, has its status in either media type. */
const ownStatus: ReadonlySet<string> = new Set([
  "malformed_request",
  "method_not_allowed",
  "rate_limited",
  "unavailable",
]);

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: GraphqlAnswer,
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
function statusOf({ failures }: GraphqlAnswer): number {
  const { problem } = failures[0]!;
  return problem.code === "validation_error" ? 400 : problem.status;
}

function asksForPage({ headers: { accept } }: FastifyRequest): boolean {
  if (accept === undefined || !accept.includes(pageType)) return false;
  return new Negotiator({ headers: { accept } }).mediaType(pageOrAnswerTypes) === pageType;
}

function typeFor(accept: string | undefined): string {
  if (accept === undefined || accept === "*/*" || accept === jsonType) return jsonType;
  return new Negotiator({ headers: { accept } }).mediaType(answerTypes) ?? jsonType;
}
