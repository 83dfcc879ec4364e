// Registers the routes that the app declares.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ResourceRouteOptions, SetQuotaHeaders } from "../api/route-options.ts";
import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { IdempotentRequests } from "../idempotency/idempotent-requests.ts";
import { idempotencyKeyOf, respondOnce } from "../idempotency/respond-once.ts";
import { routeOf } from "../model/operations.ts";
import type { RouteModel } from "../model/route.ts";
import { tokensOf } from "../query/answer-size.ts";
import { requireAccess } from "./access.ts";
import { type ParametersRequest, RequestParser } from "./request.ts";
import { problemOf, RouteRun } from "./run.ts";

export interface RoutesOptions extends ResourceRouteOptions {
  readonly idempotentRequests: Pick<IdempotentRequests, "run">;
}

const jsonType = "application/json; charset=utf-8";

export function registerRoutes(server: FastifyInstance, options: RoutesOptions): void {
  for (const route of options.engine.model.routes)
    for (const prefix of route.prefixes)
      server.route({
        method: route.method,
        url: routeOf(route, prefix),
        handler: handlerOf(route, options, prefix),
        config: {
          takesIdempotencyKey: isRepeatable(route),
          needsNoBody: true,
          ...(route.isPublic && { isPublic: true }),
          ...(route.deprecated && { deprecated: route.deprecated }),
        },
      });
}

/** Whether its method is not idempotent (RFC 9110, section 9.2.2), so that it takes an Idempotency-Key. */
function isRepeatable({ method }: RouteModel): boolean {
  return method === "POST" || method === "PATCH";
}

/** @param prefix the version in the path: `/v1` */
function handlerOf(route: RouteModel, options: RoutesOptions, prefix: string) {
  const { engine, callerOf, idempotentRequests } = options;
  const parser = new RequestParser(engine, route);
  // The unversioned path is that of the current version.
  const ignoredPrefix = route.prefixes.includes("") ? prefix : "";
  return async (request: ParametersRequest, reply: FastifyReply): Promise<string | FastifyReply> => {
    const caller = callerOf(request);
    requireAccess(route, caller);
    const key = keyOf(route, caller, request);
    const now = new Date().toISOString();
    const run = new RouteRun(engine, route, { ...parser.parse(request, caller, now), caller, now });
    reply.code(route.status);
    if (route.answer) reply.header("Content-Type", jsonType);
    const repeatable = key !== undefined && { request, reply, caller, key, ignoredPrefix };
    let text: string;
    try {
      text = repeatable
        ? await respondOnce(
            idempotentRequests,
            repeatable,
            (writes) => run.write(writes),
            () => run.prepare(),
          )
        : await run.run();
    } catch (error) {
      throw problemOf(route, error);
    }
    return route.answer ? charged(options, caller, text, reply) : reply.send();
  };
}

/** @throws Problem `idempotency_key_required`, `malformed_request` */
function keyOf(route: RouteModel, { kind }: Caller, request: FastifyRequest): string | undefined {
  if (!isRepeatable(route)) return undefined;
  const key = idempotencyKeyOf(request);
  if (key === undefined && route.requiresIdempotencyKey) throw new Problem("idempotency_key_required");
  // Everybody shares the credential, so that one caller could read the answer to another.
  if (key !== undefined && kind === "anonymous")
    throw new Problem(
      "malformed_request",
      "`Idempotency-Key` needs a secret credential. Send the request without it.",
    );
  return key;
}

/** The response, once its size is charged. */
async function charged(
  { chargeResponse }: RoutesOptions,
  caller: Caller,
  text: string,
  reply: FastifyReply,
): Promise<string> {
  const tokens = tokensOf(text);
  const setHeaders: SetQuotaHeaders = (headers) => void reply.headers(headers);
  if (tokens > 0) await chargeResponse(caller, tokens, setHeaders);
  return text;
}
