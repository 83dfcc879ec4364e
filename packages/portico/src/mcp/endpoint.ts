// `POST /mcp`: the Model Context Protocol over streamable HTTP, without sessions. Each request is answered with JSON.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { mcpPath } from "../api/paths.ts";
import type { RouteOptions, SetQuotaHeaders } from "../api/route-options.ts";
import type { Caller } from "../declare/caller.ts";
import { LoggedProblem, Problem } from "../errors.ts";
import { type ApiAnswer, type CallContext, callApi } from "./call-api.ts";
import {
  boundsProblem,
  initialization,
  listenRequestId,
  ownMessages,
  type RequestId,
  requestedCalls,
} from "./messages.ts";
import { maxResultKib } from "./result-size.ts";
import type { Sdk } from "./sdk.ts";
import type { Offer, sdkServer } from "./sdk-server.ts";
import type { ApiRequest } from "./tool-request.ts";

export interface McpOptions extends Pick<RouteOptions, "callerOf"> {
  readonly offer: () => Promise<Offer>;
  readonly loadSdk: () => Promise<Sdk>;
  /** Sends a request to this server. @param address the network address of the client */
  readonly fetch: (request: Request, address: string) => Promise<Response>;
  /** Origins whose pages may connect; known once the server listens. */
  readonly mayConnect: (origin: string) => Promise<boolean>;
  /** Counts a message that does not call the API. @throws Problem `rate_limited` */
  readonly countMessage: (caller: Caller, setHeaders: SetQuotaHeaders) => Promise<void>;
  /** Reports unexpected errors of calls. */
  readonly onInternalError: (error: unknown) => void;
  readonly addressOf: (request: FastifyRequest["raw"]) => string;
}

const maxResultBytes = maxResultKib * 1024;
/** Longer than any operation of the API may take. */
const timeoutMs = 60_000;
/** What clients of the protocol accept. The answer is always JSON. */
const acceptedTypes = ["application/json", "text/event-stream"];

export function registerMcp(routes: FastifyInstance, options: McpOptions): void {
  routes.route({
    method: "POST",
    url: mcpPath,
    config: {
      ...{ mediaTypes: acceptedTypes, resourcePath: mcpPath, countsOperations: true },
      // A page of another site could reach a server in the network of its visitor (DNS rebinding).
      beforeAuthentication: async ({ headers: { origin } }) => {
        if (origin !== undefined && !(await options.mayConnect(origin)))
          throw new Problem("forbidden", "Pages of this origin are not allowed to connect.");
      },
    },
    handler: (request, reply) => answer(request, reply, options),
  });
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  options: McpOptions,
): Promise<string | FastifyReply> {
  const { body } = request;
  const caller = options.callerOf(request);
  const setQuotaHeaders: SetQuotaHeaders = (headers) => void reply.headers(headers);
  const count = async (messages: number): Promise<void> => {
    for (let left = messages; left > 0; left -= 1) await options.countMessage(caller, setQuotaHeaders);
  };
  const refusal = boundsProblem(body, request.headers["mcp-protocol-version"]);
  await count(refusal ? 1 : ownMessages(body));
  if (refusal) throw refusal;
  const [sdk, offer, { sdkServer }] = await Promise.all([
    options.loadSdk(),
    options.offer(),
    import("./sdk-server.ts"),
  ]);
  const listenId = listenRequestId(body);
  if (listenId !== undefined) return send(reply, methodNotFound(sdk, listenId));
  const malformedId = await malformedInitialization(sdk, body);
  if (malformedId !== undefined) return send(reply, invalidParams(sdk, malformedId));
  const end = new AbortController();
  reply.raw.once("close", () => end.abort(new LoggedProblem("unavailable", "The caller is gone.")));
  const tooLong = new Problem("unavailable", "The request took too long.");
  const timeout = setTimeout(() => end.abort(tooLong), timeoutMs);
  const context = contextOf(request, options, end.signal);
  let uncounted = requestedCalls(body);
  const sendToApi = async (apiRequest: ApiRequest): Promise<ApiAnswer> => {
    uncounted -= 1;
    const answered = await callApi(options.fetch, context, apiRequest, maxResultBytes);
    setQuotaHeaders(quotaHeaders(answered));
    return answered;
  };
  const server = sdkServer(sdk, offer, caller, sendToApi, options.onInternalError);
  const received = requestOf(request, end.signal);
  try {
    const respond = (await sdk.isLegacyRequest(received, body)) ? answerLegacy : answerModern;
    const response = await unlessAborted(end.signal, respond(sdk, server, received, body));
    await countFailedCalls(count, uncounted, requestedCalls(body));
    return await send(reply, response);
  } finally {
    clearTimeout(timeout);
  }
}

/**
 * Counts the calls that never reached the API, such as those of tools that do not exist.
 *
 * @throws Problem `rate_limited` if none did: then the whole request has done nothing
 */
async function countFailedCalls(
  count: (messages: number) => Promise<void>,
  failed: number,
  requested: number,
): Promise<void> {
  try {
    await count(failed);
  } catch (error) {
    if (failed === requested) throw error;
  }
}

/** Versions of the protocol until 2025-11-25. */
async function answerLegacy(sdk: Sdk, server: SdkServer, request: Request, body: unknown): Promise<Response> {
  const transport = new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    await server.connect(transport);
    return await transport.handleRequest(request, { parsedBody: body });
  } finally {
    await server.close();
  }
}

type SdkServer = ReturnType<typeof sdkServer>;

/** Versions of the protocol since 2026-07-28. */
async function answerModern(sdk: Sdk, server: SdkServer, request: Request, body: unknown): Promise<Response> {
  const handler = sdk.createMcpHandler(() => server, { legacy: "reject" });
  try {
    return await handler.fetch(request, { parsedBody: body });
  } finally {
    await handler.close();
  }
}

/** The request for the SDK, which gets the parsed body separately, and no credential. */
function requestOf({ headers }: FastifyRequest, signal: AbortSignal): Request {
  const passed = ["mcp-protocol-version", "mcp-method", "mcp-name"].flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return new Request(`http://localhost${mcpPath}`, {
    method: "POST",
    signal,
    headers: {
      ...Object.fromEntries(passed),
      // Fastify has parsed a body of this type. The SDK would refuse clients that accept JSON only.
      "content-type": "application/json",
      accept: acceptedTypes.join(", "),
    },
  });
}

function contextOf(
  { headers, id, raw }: FastifyRequest,
  { addressOf }: McpOptions,
  signal: AbortSignal,
): CallContext {
  const credential = ["authorization", "x-api-key"].flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return {
    headers: { ...Object.fromEntries(credential), "x-request-id": id },
    address: addressOf(raw),
    signal,
  };
}

function quotaHeaders({ headers }: ApiAnswer): Readonly<Record<string, string>> {
  const names = ["RateLimit-Policy", "RateLimit"];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value] as const];
    }),
  );
}

/** The response, unless the signal comes first: the SDK might then never answer. */
function unlessAborted(signal: AbortSignal, response: Promise<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    response.then(resolve, reject);
  });
}

/** The id of a request to begin whose parameters the SDK would answer with "Internal error" (-32603). */
async function malformedInitialization(sdk: Sdk, body: unknown): Promise<RequestId | undefined> {
  const request = initialization(body);
  if (!request) return undefined;
  const { InitializeRequestParams } = sdk.specTypeSchemas;
  const { issues } = await InitializeRequestParams["~standard"].validate(request.params);
  return issues && request.id;
}

function methodNotFound({ ProtocolErrorCode }: Sdk, id: RequestId): Response {
  const error = { code: ProtocolErrorCode.MethodNotFound, message: "Method not found" };
  return Response.json({ jsonrpc: "2.0", id, error }, { status: 404 });
}

function invalidParams({ ProtocolErrorCode }: Sdk, id: RequestId): Response {
  const error = { code: ProtocolErrorCode.InvalidParams, message: "The parameters are not valid." };
  return Response.json({ jsonrpc: "2.0", id, error });
}

async function send(reply: FastifyReply, response: Response): Promise<string | FastifyReply> {
  reply.code(response.status);
  const text = await response.text();
  if (text === "") return reply.send();
  reply.header("Content-Type", "application/json; charset=utf-8");
  return text;
}
