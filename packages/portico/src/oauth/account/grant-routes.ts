// The routes of the operations on grants: `GET /v1/grants` and `DELETE /v1/grants/{id}`.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RouteOptions } from "../../api/route-options.ts";
import { requireScope } from "../../engine/authorize.ts";
import { type Detail, Problem, validationError } from "../../errors.ts";
import { routeOf } from "../../model/operations.ts";
import type { ServedVersion } from "../../model/served-versions.ts";
import { parseLimit } from "../../query/page.ts";
import { PositionCursors } from "../../query/position-cursors.ts";
import { parseQuery } from "../../query/query-string.ts";
import type { AuthorizationServer } from "../authorization-server.ts";
import { byPosition, type GrantPosition, grantOwner, grantsOf } from "../interaction/grant.ts";
import { deleteGrant, everyGrantScope, listGrants } from "./grant-operations.ts";

export interface GrantRouteOptions extends RouteOptions {
  readonly server: AuthorizationServer;
  readonly versions: readonly ServedVersion[];
}

export function registerGrantRoutes(
  routes: FastifyInstance,
  { server, versions, basePath, callerOf }: GrantRouteOptions,
): void {
  const { records, users, clients, secrets } = server.dependencies;
  const cursors = new PositionCursors(secrets, "grants");
  const list = async (request: FastifyRequest, reply: FastifyReply): Promise<object> => {
    const caller = callerOf(request);
    const { userId, isDelegated, clientId, scopes } = caller;
    if (userId === null)
      throw new Problem("forbidden", "This credential belongs to no user, and only users have grants.");
    const { limit, cursor } = parseGrantsQuery(request.url);
    const after = cursor === undefined ? undefined : positionIn(cursors.decode(userId, cursor));
    const ofUser = await grantsOf(records, clients, userId);
    const seesAll = !isDelegated || scopes.has(everyGrantScope);
    const grants = seesAll ? ofUser : ofUser.filter((grant) => grant.clientId === clientId);
    const rest = after ? grants.filter((grant) => byPosition(grant, after) > 0) : grants;
    const data = rest.slice(0, limit);
    const hasMore = rest.length > limit;
    const nextCursor = hasMore ? cursors.encode(userId, positionText(data.at(-1)!)) : null;
    const path = `${basePath}${request.route.url}`;
    if (hasMore) reply.header("Link", `<${path}?limit=${limit}&cursor=${nextCursor}>; rel="next"`);
    return { data, pagination: { nextCursor, hasMore } };
  };
  const revoke = async (request: GrantRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const [unknown] = parseQuery(request.url).keys();
    if (unknown !== undefined)
      throw validationError(unknown.slice(0, 100), "unknown", "Deleting a grant takes no parameters.");
    const caller = callerOf(request);
    requireScope(caller, deleteGrant.scope);
    const { id } = request.params;
    const owner = await users.find((await grantOwner(records, id)) ?? "");
    if (owner?.tenantId !== caller.tenantId || !(await records.deleteGrant(id)))
      throw new Problem("not_found", "There is no grant with this id.");
    return reply.code(204).send();
  };
  for (const { prefix, config } of versions) {
    routes.route({ method: listGrants.method, url: routeOf(listGrants, prefix), config, handler: list });
    routes.route({ method: deleteGrant.method, url: routeOf(deleteGrant, prefix), config, handler: revoke });
  }
}

type GrantRequest = FastifyRequest<{ Params: { id: string } }>;

/** @throws Problem `validation_error` for an unknown or duplicate parameter */
function parseGrantsQuery(url: string): { readonly limit: number; readonly cursor: string | undefined } {
  const query = parseQuery(url);
  const details = [...query].flatMap(([name, values]): Detail[] => {
    const field = name.slice(0, 100);
    if (name !== "limit" && name !== "cursor") return [{ field, issue: "unknown" }];
    return values.length > 1 ? [{ field, issue: "duplicate" }] : [];
  });
  if (details.length > 0)
    throw new Problem(
      "validation_error",
      "The parameters are `limit` and `cursor`, each at most once.",
      details,
    );
  return { limit: parseLimit(query.get("limit")?.[0]), cursor: query.get("cursor")?.[0] };
}

/** The position of a grant in the list, as cursors hold it: `1763715285048-IQs3...` */
function positionText({ createdAt, id }: GrantPosition): string {
  return `${Date.parse(createdAt)}-${id}`;
}

/** @param text of a cursor whose signature is valid, so `positionText` made it */
function positionIn(text: string): GrantPosition {
  const [, time, id] = /^(\d+)-(.+)$/.exec(text)!;
  return { createdAt: new Date(Number(time)).toISOString(), id: id! };
}
