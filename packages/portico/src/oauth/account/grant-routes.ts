// `GET /v1/grants` lists the access that the caller's user has granted to applications. `DELETE /v1/grants/{id}` revokes
// a grant of any user of the tenant; it takes the scope to manage clients.

import type { FastifyInstance } from "fastify";
import type { RouteOptions } from "../../api/route-options.ts";
import { requireScope } from "../../engine/authorize.ts";
import { type Detail, Problem, validationError } from "../../errors.ts";
import { Hmac } from "../../lib/hmac.ts";
import { parseLimit } from "../../query/page.ts";
import { parseQuery } from "../../query/query-string.ts";
import type { AuthorizationServer } from "../authorization-server.ts";
import { deriveSecrets } from "../endpoints/issuer.ts";
import { byPosition, type GrantPosition, grantOwner, grantsOf } from "../interaction/grant.ts";

export interface GrantRouteOptions extends RouteOptions {
  readonly server: AuthorizationServer;
}

const path = "/v1/grants";

export function registerGrantRoutes(
  routes: FastifyInstance,
  { server, basePath, callerOf }: GrantRouteOptions,
): void {
  const { records, users, clients, secrets } = server.dependencies;
  const cursors = new GrantCursors(secrets);
  routes.get(path, async (request, reply) => {
    const caller = callerOf(request);
    requireScope(caller, "clients:read");
    const { userId } = caller;
    if (userId === undefined)
      throw new Problem("forbidden", "This credential belongs to no user, and only users have grants.");
    const { limit, cursor } = parseGrantsQuery(request.url);
    const after = cursor === undefined ? undefined : cursors.decode(userId, cursor);
    const grants = await grantsOf(records, clients, userId);
    const rest = after ? grants.filter((grant) => byPosition(grant, after) > 0) : grants;
    const data = rest.slice(0, limit);
    const hasMore = rest.length > limit;
    const nextCursor = hasMore ? cursors.encode(userId, data.at(-1)!) : null;
    if (hasMore) reply.header("Link", `<${basePath}${path}?limit=${limit}&cursor=${nextCursor}>; rel="next"`);
    return { data, pagination: { nextCursor, hasMore } };
  });
  routes.delete<{ Params: { id: string } }>(`${path}/:id`, async (request, reply) => {
    const [unknown] = parseQuery(request.url).keys();
    if (unknown !== undefined)
      throw validationError(unknown.slice(0, 100), "unknown", "Deleting a grant takes no parameters.");
    const caller = callerOf(request);
    requireScope(caller, "clients:manage");
    const { id } = request.params;
    const owner = await users.find((await grantOwner(records, id)) ?? "");
    if (owner?.tenantId !== caller.tenantId || !(await records.deleteGrant(id)))
      throw new Problem("not_found", "There is no grant with this id.");
    return reply.code(204).send();
  });
}

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

const maxCursorLength = 400;

/** Cursors hold the position of the last grant of a page, and are signed for the user of the list. */
class GrantCursors {
  readonly #keys: readonly Hmac[];

  constructor(secrets: readonly string[]) {
    this.#keys = deriveSecrets(secrets, "grants").map((secret) => new Hmac(secret));
  }

  encode(userId: string, { createdAt, id }: GrantPosition): string {
    const payload = JSON.stringify([createdAt, id]);
    return Buffer.from(`${this.#keys[0]!.sign(userId + payload)}${payload}`).toString("base64url");
  }

  /** @throws Problem `invalid_cursor` */
  decode(userId: string, token: string): GrantPosition {
    const text = Buffer.from(token.slice(0, maxCursorLength), "base64url").toString();
    const [signature, payload] = [text.slice(0, signatureLength), text.slice(signatureLength)];
    const isOurs = this.#keys.some((key) => key.verify(userId + payload, signature));
    if (!isOurs) throw new Problem("invalid_cursor");
    // The signature is valid, so `encode` made the payload.
    const [createdAt, id] = JSON.parse(payload) as [string, string];
    return { createdAt, id };
  }
}

/** Characters of an HMAC-SHA-256 in base64url. */
const signatureLength = 43;
