// `GET /v1/me` and `PATCH /v1/me`: who the caller is, and what users change themselves.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ResourceRouteOptions } from "../../api/route-options.ts";
import { changeableUserOf, type Me } from "../../engine/me.ts";
import { validationError } from "../../errors.ts";
import type { IdempotentRequests } from "../../idempotency/idempotent-requests.ts";
import { idempotencyKeyOf, respondOnce } from "../../idempotency/respond-once.ts";
import { routeOf } from "../../model/operations.ts";
import { servedVersions } from "../../model/served-versions.ts";
import { parseQuery } from "../../query/query-string.ts";
import { showOwnFiles, type UrlOfFile } from "../../query/shown-files.ts";
import { getMe, updateMe } from "./operations.ts";

export interface MeRouteOptions extends Pick<ResourceRouteOptions, "engine" | "callerOf"> {
  /** The address of a file. */
  readonly fileUrl: UrlOfFile;
  readonly idempotentRequests: Pick<IdempotentRequests, "run">;
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<string>;

export function registerMe(
  routes: FastifyInstance,
  { engine, callerOf, idempotentRequests, fileUrl }: MeRouteOptions,
): void {
  const { model } = engine;
  const users = model.resource.get("user")!;
  const textOf = (me: Me): string => JSON.stringify(showOwnFiles(users, me, fileUrl));
  const get: Handler = async (request) => textOf(await engine.me(callerOf(request)));
  const update: Handler = async (request, reply) => {
    const { body } = request;
    const caller = callerOf(request);
    const key = idempotencyKeyOf(request);
    if (key === undefined) return textOf(await engine.updateMe(caller, body));
    changeableUserOf(caller);
    return respondOnce(idempotentRequests, { request, reply, caller, key }, async (writes, session) =>
      textOf(await engine.updateMe(caller, body, { writes, session })),
    );
  };
  const handlers = [
    [getMe(model), get, { isPublic: model.hasPublicReads }],
    [updateMe(model), update, { takesIdempotencyKey: true }],
  ] as const;
  for (const [operation, handle, config] of handlers)
    for (const version of servedVersions(model))
      routes.route({
        method: operation.method,
        url: routeOf(operation, version.prefix),
        config: { ...version.config, ...config },
        handler: async (request: FastifyRequest, reply: FastifyReply) => {
          const [unknown] = parseQuery(request.url).keys();
          if (unknown !== undefined)
            throw validationError(unknown.slice(0, 100), "unknown", "/v1/me takes no parameters.");
          reply.header("Content-Type", "application/json; charset=utf-8");
          return handle(request, reply);
        },
      });
}
