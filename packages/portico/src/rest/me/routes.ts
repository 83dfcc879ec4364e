// `GET /v1/me` and `PATCH /v1/me`: who the caller is, and what users change themselves.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ResourceRouteOptions } from "../../api/route-options.ts";
import { validationError } from "../../errors.ts";
import type { JsonSchema } from "../../model/json-schema.ts";
import { commonErrors, type ModuleOperation, routeOf } from "../../model/operations.ts";
import { parseQuery } from "../../query/query-string.ts";

const text = { type: "string" };

const me: JsonSchema = {
  type: "object",
  properties: {
    kind: { type: "string", enum: ["key", "user", "client", "anonymous"] },
    tenant: { type: "object", properties: { id: text, name: text }, required: ["id", "name"] },
    user: {
      type: ["object", "null"],
      // The fields that the app adds follow.
      properties: { id: text, name: text, email: text, role: text },
      required: ["id", "name", "email", "role"],
    },
    scopes: { type: "array", items: text },
    rateLimit: {
      type: ["object", "null"],
      properties: { limit: { type: "integer" }, windowSeconds: { type: "integer" } },
      required: ["limit", "windowSeconds"],
    },
  },
  required: ["kind", "tenant", "user", "scopes", "rateLimit"],
};

const common = { kind: "module", path: "/me", prefixes: ["/v1"], scope: undefined, parameters: [] } as const;

export const getMe = Object.freeze<ModuleOperation>({
  ...common,
  id: "getMe",
  method: "GET",
  input: undefined,
  output: me,
  errors: commonErrors,
});

/** @param selfEditable the fields that the app adds to users and that they may change themselves */
export function updateMeOf(selfEditable: readonly string[]): ModuleOperation {
  const added = Object.fromEntries(selfEditable.map((name) => [name, {}]));
  return Object.freeze<ModuleOperation>({
    ...common,
    id: "updateMe",
    method: "PATCH",
    input: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1, maxLength: 200 },
        email: { type: "string", maxLength: 254, format: "email" },
        ...added,
      },
      additionalProperties: false,
    },
    output: me,
    errors: [...commonErrors, "forbidden", "validation_error", "conflict"],
  });
}

export function registerMe(
  routes: FastifyInstance,
  { engine, callerOf }: Pick<ResourceRouteOptions, "engine" | "callerOf">,
  updateMe: ModuleOperation,
): void {
  const handlers = [
    [getMe, (request: FastifyRequest) => engine.me(callerOf(request))],
    [updateMe, (request: FastifyRequest) => engine.updateMe(callerOf(request), request.body)],
  ] as const;
  for (const [operation, handle] of handlers)
    for (const prefix of operation.prefixes)
      routes.route({
        method: operation.method,
        url: routeOf(operation, prefix),
        config: { isPublic: operation === getMe && engine.model.hasPublicReads },
        handler: async (request: FastifyRequest) => {
          const [unknown] = parseQuery(request.url).keys();
          if (unknown !== undefined)
            throw validationError(unknown.slice(0, 100), "unknown", "/v1/me takes no parameters.");
          return handle(request);
        },
      });
}
