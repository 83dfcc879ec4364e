// Routes as operations, for what describes or calls the API.

import { standardMaxItems } from "../declare/field.ts";
import type { ErrorCode } from "../errors.ts";
import { camelCase, capitalize } from "../lib/case.ts";
import { attributeSchema, rowSchema } from "./json-schema.ts";
import type { Attribute } from "./model.ts";
import { bodyErrors, commonErrors, repeatableErrors } from "./operation-errors.ts";
import type { Parameter } from "./operation-parameters.ts";
import type { ModuleOperation } from "./operations.ts";
import type { RouteModel } from "./route.ts";

/** @param id unique among all operations */
export function routeOperation(id: string, route: RouteModel): ModuleOperation {
  const { method, path, prefixes, scope, isPublic, parameters, query, input, answer } = route;
  const { status, deprecated, description, isTool } = route;
  const hasInput = input.attributes.length > 0;
  return Object.freeze({
    ...{ id, kind: "module", method, path, prefixes, isPublic, status, deprecated, description, isTool },
    scope: scope ?? undefined,
    parameters: [
      ...parameters.attributes.map((each) => parameterOf("path", each)),
      ...query.attributes.map((each) => parameterOf("query", each)),
    ],
    input: hasInput ? input.schemas.create : undefined,
    output: answer && rowSchema(answer),
    errors: errorsOf(route),
  } as const);
}

/** `GET /projects/{id}/stats` -> `getProjectsByIdStats` */
export function routeOperationId({ method, path }: Pick<RouteModel, "method" | "path">): string {
  const words = path.split("/").map((segment) => {
    const [, parameter] = /^\{(\w+)\}$/.exec(segment) ?? [];
    return capitalize(
      parameter === undefined ? camelCase(segment.replaceAll(".", "-")) : `by${capitalize(parameter)}`,
    );
  });
  return `${method.toLowerCase()}${words.join("")}`;
}

function parameterOf(location: "path" | "query", attribute: Attribute): Parameter {
  const { name, field } = attribute;
  const isList = field.kind === "list";
  const schema = attributeSchema({ ...attribute, isOptional: false });
  return {
    ...{ name, in: location },
    ...(!attribute.isOptional && !("default" in field.options) && { isRequired: true }),
    // Each item is a parameter of its own: `tag=one&tag=two`
    schema: isList ? (schema.items as Parameter["schema"]) : schema,
    description: field.options.description ?? "",
    maxCount: isList ? (field.options.max ?? standardMaxItems) : 1,
  };
}

/** The errors that a route can return, whatever its handler does. A handler may throw any other. */
function errorsOf({ method, requiresIdempotencyKey }: RouteModel): readonly ErrorCode[] {
  const isRepeatable = method === "POST" || method === "PATCH";
  return [
    ...commonErrors,
    ...(["not_found", "forbidden", "conflict"] as const),
    ...(isRepeatable ? repeatableErrors : []),
    ...(requiresIdempotencyKey ? (["idempotency_key_required"] as const) : []),
    ...(method === "GET" ? [] : bodyErrors),
  ];
}
