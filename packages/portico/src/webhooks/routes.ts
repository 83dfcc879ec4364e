// The routes of the operations that answer with something else than an endpoint.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import { requireScope } from "../engine/authorize.ts";
import { throwNotFound } from "../engine/find-row.ts";
import { validationError } from "../errors.ts";
import { isId } from "../lib/id.ts";
import { routeOf } from "../model/operations.ts";
import { parseQuery } from "../query/query-string.ts";
import { webhookScopes } from "./delivery.ts";
import { findEndpoint, type Target } from "./endpoint-queries.ts";
import { replayEvents, testEndpoint } from "./operations.ts";
import { parseReplay, type ReplayContext, replay } from "./replay.ts";
import { sendTest } from "./test-event.ts";

type RowRequest = FastifyRequest<{ Params: { id: string } }>;

export function registerWebhookRoutes(
  routes: FastifyInstance,
  callerOf: (request: FastifyRequest) => Caller,
  context: ReplayContext,
): void {
  const targetOf = async (request: RowRequest): Promise<readonly [Caller, Target]> => {
    const [unknown] = parseQuery(request.url).keys();
    if (unknown !== undefined)
      throw validationError(unknown.slice(0, 100), "unknown", "This operation takes no query parameters.");
    const caller = callerOf(request);
    requireScope(caller, webhookScopes.write);
    const { id: endpointId } = request.params;
    const { store, engine } = context;
    const { tenantId } = caller;
    const target = isId(endpointId)
      ? await findEndpoint(store, store.database, { tenantId, endpointId })
      : undefined;
    return [caller, target ?? throwNotFound(engine.model.resource.get("webhookEndpoint")!)];
  };
  routes.route({
    method: testEndpoint.method,
    url: routeOf(testEndpoint, "/v1"),
    async handler(request: RowRequest, reply) {
      const [caller, target] = await targetOf(request);
      // Whoever may send a test may see its delivery.
      const scopes = new Set([...caller.scopes, webhookScopes.read]);
      const text = await sendTest(context, { ...caller, scopes }, target);
      return reply.code(201).header("content-type", "application/json; charset=utf-8").send(text);
    },
  });
  routes.route({
    method: replayEvents.method,
    url: routeOf(replayEvents, "/v1"),
    async handler(request: RowRequest, reply) {
      const [, target] = await targetOf(request);
      const count = await replay(context, target, parseReplay(request.body, context.engine.model));
      return reply.code(202).send({ count });
    },
  });
}
