// The parameters of a request (GraphQL over HTTP, sections 5.1 to 5.3).

import { Problem } from "../../errors.ts";
import { parseQuery } from "../../query/query-string.ts";

export interface GraphqlRequest {
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  /** `dropUnused` removes those that the operation does not declare. */
  variables: Readonly<Record<string, unknown>>;
  extensions: Readonly<Record<string, unknown>>;
  /** Whether preparing the operation can take long. Such a request first yields to the event loop. */
  readonly isLong: boolean;
}

/** Characters of a document, and values of variables, that are prepared within a few milliseconds. */
const usualCharacters = 4_000;
const usualValues = 500;

/** Values in variables or extensions, which are all validated before the operation runs. */
const maxValues = 10_000;
/** Levels of nested variables or extensions. JSON fields can have 32, within an input. */
const maxDepth = 64;
/** Characters of an operation name. The limit for names in documents is the same. */
const maxName = 1_000;

/** @throws Problem `malformed_request` */
export function requestOfBody(body: unknown): GraphqlRequest {
  if (Array.isArray(body))
    throw new Problem("malformed_request", "Batches are not supported. Send one operation.");
  if (!isObject(body))
    throw new Problem("malformed_request", "The request must be a JSON object with `query`.");
  const query = optionalText("query", body.query);
  const variables = optionalObject("variables", body.variables);
  const values = requireBoundedJson("variables", variables);
  const extensions = optionalObject("extensions", body.extensions);
  requireBoundedJson("extensions", extensions);
  return {
    query,
    operationName: optionalName("operationName", body.operationName),
    variables,
    extensions,
    isLong: values > usualValues || (query !== undefined && query.length > usualCharacters),
  };
}

/** The same from the query string of a request target. @throws Problem `malformed_request` */
export function requestOfTarget(target: string): GraphqlRequest {
  const parameters = parseQuery(target);
  const once = (name: string): string | undefined => {
    const [value, duplicate] = parameters.get(name) ?? [];
    if (duplicate === undefined) return value;
    throw new Problem("malformed_request", `Duplicate query parameter \`${name}\`.`);
  };
  const json = (name: string): unknown => {
    const text = once(name);
    if (text === undefined || text === "") return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw new Problem("malformed_request", `The query parameter \`${name}\` is not valid JSON.`);
    }
  };
  return requestOfBody({
    query: once("query"),
    operationName: once("operationName") || undefined,
    variables: json("variables"),
    extensions: json("extensions"),
  });
}

/** Extensions that are read after the document has been parsed. */
const usedExtensions: ReadonlySet<string> = new Set(["cost", "lastEventId", "wholeRow"]);

/**
 * Removes variables and extensions that are not used, to free their memory while the operation waits and runs. Changes
 * the request in place, because other code holds it as well.
 *
 * @param variables the names that the operation declares
 */
export function dropUnused(request: GraphqlRequest, variables: ReadonlySet<string>): void {
  request.variables = only(request.variables, variables);
  request.extensions = only(request.extensions, usedExtensions);
}

type Members = Readonly<Record<string, unknown>>;

function only(members: Members, names: ReadonlySet<string>): Members {
  const entries = Object.entries(members);
  const used = entries.filter(([name]) => names.has(name));
  return used.length === entries.length ? members : Object.fromEntries(used);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function optionalText(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw new Problem("malformed_request", `\`${name}\` must be a string.`);
}

function optionalName(name: string, value: unknown): string | undefined {
  const text = optionalText(name, value);
  if (text === undefined || text.length <= maxName) return text;
  throw new Problem("malformed_request", `\`${name}\` has more than ${maxName} characters.`);
}

const emptyObject = Object.freeze({});

function optionalObject(name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return emptyObject;
  if (!isObject(value)) throw new Problem("malformed_request", `\`${name}\` must be an object.`);
  return value;
}

/**
 * Counts the values of JSON. Deeply nested values would exhaust the stack of recursive functions.
 *
 * @throws Problem `malformed_request`
 */
export function requireBoundedJson(name: string, value: unknown): number {
  let count = 0;
  const visit = (inner: unknown, levels: number): void => {
    count += 1;
    if (count > maxValues)
      throw new Problem("malformed_request", `\`${name}\` has more than ${maxValues} values.`);
    if (typeof inner !== "object" || inner === null) return;
    if (levels === 0) throw new Problem("malformed_request", `\`${name}\` has more than ${maxDepth} levels.`);
    if (Array.isArray(inner)) for (const item of inner) visit(item, levels - 1);
    else for (const key in inner) visit((inner as Readonly<Record<string, unknown>>)[key], levels - 1);
  };
  visit(value, maxDepth);
  return count;
}
