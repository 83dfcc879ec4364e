// The routes of an app: what their declarations say, as the server uses it.

import { text } from "../declare/field.ts";
import type { Deprecation } from "../declare/field-options.ts";
import type { Fields } from "../declare/record.ts";
import type { LooseRouteHandler, Route, RouteMethod } from "../declare/route.ts";
import { type ModelOf, requestShape } from "./attributes.ts";
import { earliestDeprecation } from "./deprecation.ts";
import { withExplainedErrors } from "./explained-failures.ts";
import type { RequestShape } from "./model.ts";
import { prefixesOf, type Versions } from "./operations.ts";
import { parseRoutePath, validateRoute } from "./validate-route.ts";

export interface RouteModel {
  /** As it was declared: `GET /v1/stats` */
  readonly name: string;
  readonly method: RouteMethod;
  /** Without its version: `/projects/{id}/stats` */
  readonly path: string;
  /** What comes before the path. */
  readonly prefixes: readonly string[];
  /** The scope that it requires; null if any secret credential will do, or if it is public. */
  readonly scope: string | null;
  readonly isPublic: boolean;
  /** The parameters in the path. */
  readonly parameters: RequestShape;
  readonly query: RequestShape;
  /** The body. */
  readonly input: RequestShape;
  /** Undefined if the answer is empty. */
  readonly answer: RequestShape | undefined;
  readonly status: number;
  readonly requiresIdempotencyKey: boolean;
  readonly description: string | undefined;
  readonly deprecated: Deprecation | undefined;
  /** Whether MCP offers it as a tool. */
  readonly isTool: boolean;
  readonly handler: LooseRouteHandler;
}

export interface RouteOptions {
  readonly versions: Versions;
  readonly explainsFailures: boolean;
}

/** A parameter in a path that is not declared. */
const plainParameter = text({ min: 1 });

/** @throws OperatorError with one line: route, field and remedy */
export function routeModel(
  route: Route,
  modelOf: ModelOf,
  { versions, explainsFailures }: RouteOptions,
): RouteModel {
  validateRoute(route);
  const { path: name, declaration, handler } = route;
  const { method, version, path, parameterNames } = parseRoutePath(name)!;
  const shape = (part: string, fields: Fields = {}): RequestShape =>
    requestShape(`${name}, ${part}`, fields, modelOf);
  const declared = shape("parameters", declaration.parameters);
  const plain = parameterNames.filter((each) => !declared.attribute.has(each));
  const parameters = {
    ...Object.fromEntries(plain.map((each) => [each, plainParameter])),
    ...declaration.parameters,
  };
  const { answer = {}, scope = null, status, description } = declaration;
  const isEmpty = Object.keys(answer).length === 0;
  return Object.freeze({
    ...{ name, method, path, scope, description },
    deprecated: earliestDeprecation([declaration.deprecated, versions.deprecated.get(version)]),
    prefixes: prefixesOf(version, versions.current),
    isPublic: declaration.public === true,
    isTool: declaration.mcp ?? true,
    parameters: shape("parameters", parameters),
    query: shape("query", declaration.query),
    input: shape("input", declaration.input),
    answer: isEmpty ? undefined : shape("answer", answer),
    status: status ?? (isEmpty ? 204 : 200),
    requiresIdempotencyKey: declaration.idempotencyKey === "required",
    handler: explainsFailures ? withExplainedErrors(`the route ${name}`, handler) : handler,
  });
}
