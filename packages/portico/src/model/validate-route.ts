// Checks the declaration of a route.

import { itemKinds } from "../declare/field.ts";
import type { Fields } from "../declare/record.ts";
import { everyScope } from "../declare/roles.ts";
import { type Route, type RouteMethod, routeMethods } from "../declare/route.ts";
import { OperatorError } from "../errors.ts";
import type { Refuse } from "./validate-behaviour.ts";
import { namePattern, scopePattern } from "./validate-declaration.ts";
import { validateDeprecation, validateField } from "./validate-field.ts";

export interface RoutePathParts {
  readonly method: RouteMethod;
  readonly version: string;
  /** What follows the version. */
  readonly path: string;
  readonly parameterNames: readonly string[];
}

const segment = "[a-z0-9]+(?:[-.][a-z0-9]+)*";
const parameter = "\\{[a-z][a-zA-Z0-9]{0,40}\\}";
/** The first segment names what the route is about, so it cannot be a parameter. */
const pathPattern = new RegExp(
  `^(${routeMethods.join("|")}) /(v\\d{1,4})((?:/${segment})(?:/${segment}|/${parameter})*)$`,
);
const maxPathLength = 200;

/** The parts of `GET /v1/projects/{id}/stats`; undefined if it is not written so. */
export function parseRoutePath(text: string): RoutePathParts | undefined {
  const [, method, version, path] = (text.length <= maxPathLength && pathPattern.exec(text)) || [];
  if (method === undefined || version === undefined || path === undefined) return undefined;
  const parameterNames = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  // The pattern names the methods.
  return { method: method as RouteMethod, version, path, parameterNames };
}

/** The kinds whose values have the form of a text in a path or a query. */
const textKinds: readonly string[] = [...itemKinds, "timestamp", "decimal", "belongsTo"];
const queryKinds = [...textKinds, "list"];
const bodyKinds = [...queryKinds, "json"];
/** What is about stored values. */
const storedOptions = [
  "readOnly",
  "internal",
  "immutable",
  "keepOnReplace",
  "unique",
  "onDelete",
  "was",
  "fill",
];

const options = [
  "scope public parameters query input answer status idempotencyKey mcp description deprecated",
].flatMap((names) => names.split(" "));

/** @throws OperatorError with one line: route, field and remedy */
export function validateRoute({ path: name, declaration, handler }: Route): void {
  const refuse: Refuse = (remedy) => {
    throw new OperatorError(`route ${name}: ${remedy}`);
  };
  const parsed =
    (typeof name === "string" ? parseRoutePath(name) : undefined) ??
    refuse(
      'write the method, the version and the path in lowercase, with parameters in braces: "GET /v1/projects/{id}/stats"',
    );
  const unknown = Object.keys(declaration).find((option) => !options.includes(option));
  if (unknown !== undefined) refuse(`unknown option ${unknown}; use some of ${options.join(", ")}`);
  if (typeof handler !== "function") refuse("its third argument is a function that returns the answer");
  validateAccess(declaration, refuse);
  validateAnswer(declaration, refuse);
  const { method, parameterNames } = parsed;
  const { parameters = {}, query = {}, input = {}, idempotencyKey } = declaration;
  validateFields("parameters", parameters, textKinds, refuse);
  validateFields("query", query, queryKinds, refuse);
  validateFields("input", input, bodyKinds, refuse);
  validateParameters(parameters, parameterNames, refuse);
  const isRepeatable = method === "POST" || method === "PATCH";
  if (Object.keys(input).length > 0 && !isRepeatable && method !== "PUT")
    refuse(`${method} has no body; declare its values in query`);
  if (idempotencyKey !== undefined && (idempotencyKey !== "required" || !isRepeatable))
    refuse('idempotencyKey is "required", for POST and PATCH, or left out');
  if (!["boolean", "undefined"].includes(typeof declaration.mcp)) refuse("mcp is true or false");
  validateDeprecation(declaration.deprecated, refuse);
}

function validateAnswer({ answer = {}, status }: Route["declaration"], refuse: Refuse): void {
  validateFields("answer", answer, bodyKinds, refuse);
  const standard = Object.entries(answer).find(([, field]) => "default" in field.options)?.[0];
  if (standard !== undefined)
    refuse(`answer, ${standard}: the handler returns the value; remove default, or make it optional`);
  if (status === undefined) return;
  if (!Number.isInteger(status) || status < 200 || status > 299) refuse("status is a number from 200 to 299");
  const hasAnswer = Object.keys(answer).length > 0;
  const isEmpty = status === 204 || status === 205;
  if (hasAnswer && isEmpty) refuse(`an answer with status ${status} is empty; remove one of the two`);
}

function validateParameters(parameters: Fields, inPath: readonly string[], refuse: Refuse): void {
  if (new Set(inPath).size < inPath.length) refuse("a parameter occurs twice in the path");
  for (const [field, { kind, options: own }] of Object.entries(parameters)) {
    const name = kind === "belongsTo" ? `${field}Id` : field;
    if (!inPath.includes(name))
      refuse(`the path has no parameter {${name}}; add it there, or declare it in query`);
    if (own.optional || "default" in own) refuse(`parameters, ${field}: a part of the path is always given`);
  }
}

function validateAccess({ scope, public: isPublic }: Route["declaration"], refuse: Refuse): void {
  if (isPublic === true) {
    if (scope !== undefined) refuse("is public, so nobody needs a scope; remove one of the two");
    return;
  }
  if (isPublic !== undefined && isPublic !== false) refuse("public is true, or left out");
  if (scope === undefined)
    refuse(
      'say who may call it: scope: "projects:read", scope: null for any secret credential, or public: true',
    );
  if (scope === null) return;
  if (typeof scope !== "string" || !scopePattern.test(scope) || scope === everyScope)
    refuse(`the scope '${scope}' is not valid; write it like projects:read`);
}

function validateFields(part: string, fields: Fields, kinds: readonly string[], refuseRoute: Refuse): void {
  if (typeof fields !== "object" || fields === null) refuseRoute(`${part} is an object of fields`);
  for (const [field, shape] of Object.entries(fields)) {
    const refuse: Refuse = (remedy) => refuseRoute(`${part}, ${field}: ${remedy}`);
    if (!namePattern.test(field)) refuse("write the name as one word in camelCase, for example dueAt");
    validateField(shape, refuse);
    if (!kinds.includes(shape.kind)) refuse(`has one of the kinds ${kinds.join(", ")}`);
    const stored = storedOptions.find((option) => option in shape.options);
    if (stored !== undefined) refuse(`is not stored; remove ${stored}`);
  }
}
