// The routes of the operations that answer with something else than an endpoint.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import { requireScope } from "../engine/authorize.ts";
import { throwNotFound } from "../engine/find-row.ts";
import { validationError } from "../errors.ts";
import type { IdempotentRequests } from "../idempotency/idempotent-requests.ts";
import { idempotencyKeyOf, respondOnce } from "../idempotency/respond-once.ts";
import { isId } from "../lib/id.ts";
import { routeOf } from "../model/operations.ts";
import { servedVersions } from "../model/served-versions.ts";
import { parseQuery } from "../query/query-string.ts";
import type { Session } from "../store/database.ts";
import { webhookScopes } from "./delivery.ts";
import { findEndpoint, type Target } from "./endpoint-queries.ts";
import { replayEvents, testEndpoint } from "./operations.ts";
import { type PlannedReplay, parseReplay, planReplay, type ReplayContext, replay } from "./replay.ts";
import { sendTest } from "./test-event.ts";

type RowRequest = FastifyRequest<{ Params: { id: string } }>;

export interface WebhookRouteOptions extends ReplayContext {
  readonly callerOf: (request: FastifyRequest) => Caller;
  readonly idempotentRequests: Pick<IdempotentRequests, "run">;
}

export function registerWebhookRoutes(routes: FastifyInstance, options: WebhookRouteOptions): void {
  const { store, engine, idempotentRequests } = options;
  const callerOf = (request: RowRequest): Caller => {
    const [unknown] = parseQuery(request.url).keys();
    if (unknown !== undefined)
      throw validationError(unknown.slice(0, 100), "unknown", "This operation takes no query parameters.");
    const caller = options.callerOf(request);
    requireScope(caller, webhookScopes.write);
    return caller;
  };
  const targetOf = async (request: RowRequest, { tenantId }: Caller): Promise<Target> => {
    const { id: endpointId } = request.params;
    const target = isId(endpointId)
      ? await findEndpoint(store, store.database, { tenantId, endpointId })
      : undefined;
    return target ?? throwNotFound(engine.model.resource.get("webhookEndpoint")!);
  };
  const json = "application/json; charset=utf-8";
  const sendsTest = testEndpoint(engine.model);
  const sendTestEvent = {
    method: sendsTest.method,
    async handler(request: RowRequest, reply: FastifyReply) {
      const caller = callerOf(request);
      const target = await targetOf(request, caller);
      // Whoever may send a test may see its delivery.
      const scopes = new Set([...caller.scopes, webhookScopes.read]);
      const text = await sendTest(options, { ...caller, scopes }, target);
      return reply.code(201).header("content-type", json).send(text);
    },
  };
  const queueReplay = {
    method: replayEvents.method,
    async handler(request: RowRequest, reply: FastifyReply) {
      const caller = callerOf(request);
      const plan = async () =>
        planReplay(options, await targetOf(request, caller), parseReplay(request.body, engine.model));
      const queue = async (planned: PlannedReplay, session?: Session): Promise<string> => {
        const count = await replay(options, planned, session);
        reply.code(202).header("content-type", json);
        return JSON.stringify({ count });
      };
      const key = idempotencyKeyOf(request);
      if (key === undefined) return queue(await plan());
      const work = (_writes: unknown, session: Session, planned: PlannedReplay) => queue(planned, session);
      return respondOnce(idempotentRequests, { request, reply, caller, key }, work, plan);
    },
  };
  for (const { prefix, config } of servedVersions(engine.model)) {
    routes.route({ ...sendTestEvent, url: routeOf(sendsTest, prefix), config });
    const replayConfig = { ...config, takesIdempotencyKey: true };
    routes.route({ ...queueReplay, url: routeOf(replayEvents, prefix), config: replayConfig });
  }
}
