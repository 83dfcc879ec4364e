// Passes a request to REST or GraphQL as the server does, with an engine whose store records reads instead of running them.

import Fastify from "fastify";
import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { PolicyError } from "../engine/policy.ts";
import { OperatorError, Problem } from "../errors.ts";
import { requestOfBody } from "../graphql/document/request.ts";
import { Executor } from "../graphql/execute/executor.ts";
import { buildApi } from "../graphql/schema/schema.ts";
import { sendError } from "../http/error-response.ts";
import { registerRest } from "../rest/routes.ts";
import { graphqlLimitsOf, type Settings } from "../runtime/settings/settings.ts";

/** A request that the server refuses. */
export class RefusedRequest extends OperatorError {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** Whether the request itself is valid, and refused because of who sends it. */
  get isAboutCaller(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** The event log reads its own tables, in several steps that depend on what was read before. */
const noEventLog = {
  list: () => Promise.reject(eventsNotExplained()),
  get: () => Promise.reject(eventsNotExplained()),
};

function eventsNotExplained(): Problem {
  return new Problem("forbidden", "The statements of the event log are not shown.");
}

const chargeNothing = async (): Promise<void> => {};

/** @param path with a query: `/v1/posts?status=draft` @throws RefusedRequest with the server's error, PolicyError or OperatorError for a wrong policy */
export async function requestRest(engine: Engine, caller: Caller, path: string): Promise<void> {
  if (!path.startsWith("/"))
    throw new OperatorError(`PATH is '${path}'; it must begin with a slash: /v1/posts?limit=5`);
  const server = Fastify({ routerOptions: { querystringParser: () => ({}) }, frameworkErrors: sendError });
  let thrown: unknown;
  server.setErrorHandler((error, request, reply) => {
    thrown = error;
    sendError(error, request, reply);
  });
  server.setNotFoundHandler(() => {
    throw new Problem("not_found", "No resource is read at this path.");
  });
  registerRest(server, {
    ...{ engine, reports: {}, basePath: "" },
    callerOf: () => caller,
    fileUrl: (id) => id,
    chargeResponse: chargeNothing,
    idempotentRequests: { run: () => Promise.reject(new Error("only GET is sent")) },
  });
  const response = await server.inject({ method: "GET", url: path });
  if (response.statusCode < 400) return;
  // The response does not say so.
  if (isOfPolicy(thrown)) throw thrown;
  const { code, message } = response.json().error;
  throw new RefusedRequest(response.statusCode, code, message);
}

/** @throws RefusedRequest with the server's first error, PolicyError or OperatorError for a wrong policy */
export async function requestGraphql(
  engine: Engine,
  settings: Settings,
  caller: Caller,
  document: string,
): Promise<void> {
  const executor = new Executor({
    api: buildApi(engine.model),
    engine,
    eventLog: noEventLog,
    limits: graphqlLimitsOf(settings),
    takeTokens: chargeNothing,
    chargeResponse: chargeNothing,
    fileUrl: (id) => id,
  });
  const request = requestOfBody({ query: document });
  const { hasData, failures } = await executor.execute(request, caller, true, () => {});
  // A recorded read has no row, which a field of the document may not accept.
  const [first] = failures;
  if (isOfPolicy(first?.problem.cause)) throw first!.problem.cause;
  if (first && (!hasData || first.problem.status === 403 || first.problem.status === 401))
    throw new RefusedRequest(first.problem.status, first.problem.code, first.formatted.message);
}

/** A policy has thrown, or returned something that is not a condition. */
function isOfPolicy(error: unknown): boolean {
  return error instanceof PolicyError || error instanceof OperatorError;
}
