// The parameters of a request (GraphQL over HTTP, sections 5.1 to 5.3).

import { Problem } from "../../errors.ts";
import { parseQuery } from "../../query/query-string.ts";

export interface GraphqlRequest {
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  /** Those that the operation does not use are dropped once it is known: see `dropUnused`. */
  variables: Readonly<Record<string, unknown>>;
  extensions: Readonly<Record<string, unknown>>;
  /** Whether it may take long to find out what it asks for: it waits for a turn of its own. */
  readonly isLong: boolean;
}

/** Characters of a document, and values of variables, that take no more than a few milliseconds. */
const usualCharacters = 4_000;
const usualValues = 500;

/** Values in variables and extensions: each is looked at before anything runs. */
const maxValues = 10_000;
/** Levels of variables and extensions. JSON in rows has 32, below the names of variable and field. */
const deepest = 64;
/** No document has an operation with a longer name. */
const maxName = 1_000;

/** @throws Problem `malformed_request` for a body that is none */
export function requestOfBody(body: unknown): GraphqlRequest {
  if (Array.isArray(body))
    throw new Problem("malformed_request", "Send one operation; batches are not served.");
  if (!isObject(body)) throw new Problem("malformed_request", "Send a JSON object with the member query.");
  const query = optionalText("query", body.query);
  const variables = optionalObject("variables", body.variables);
  const values = requireBoundedJson("variables", variables);
  const extensions = optionalObject("extensions", body.extensions);
  requireBoundedJson("extensions", extensions);
  return {
    query,
    operationName: nameOrNothing("operationName", body.operationName),
    variables,
    extensions,
    isLong: values > usualValues || (query !== undefined && query.length > usualCharacters),
  };
}

/** The same from the query of a request target, each parameter once. @throws Problem `malformed_request` */
export function requestOfTarget(target: string): GraphqlRequest {
  const parameters = parseQuery(target);
  const once = (name: string): string | undefined => {
    const [value, another] = parameters.get(name) ?? [];
    if (another === undefined) return value;
    throw new Problem("malformed_request", `The parameter ${name} is given more than once.`);
  };
  const json = (name: string): unknown => {
    const text = once(name);
    if (text === undefined || text === "") return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw new Problem("malformed_request", `The parameter ${name} is not JSON.`);
    }
  };
  return requestOfBody({
    query: once("query"),
    operationName: once("operationName") || undefined,
    variables: json("variables"),
    extensions: json("extensions"),
  });
}

/** Extensions that matter beyond the document. */
const usedExtensions: ReadonlySet<string> = new Set(["cost", "lastEventId"]);

/**
 * Drops what nothing will use, which may be as large as a body. In place: whoever has the request would hold it
 * otherwise, for as long as the operation waits and runs.
 *
 * @param variables names that the operation declares
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
  throw new Problem("malformed_request", `${name} must be text.`);
}

function nameOrNothing(name: string, value: unknown): string | undefined {
  const text = optionalText(name, value);
  if (text === undefined || text.length <= maxName) return text;
  throw new Problem("malformed_request", `${name} has more than ${maxName} characters.`);
}

const emptyObject = Object.freeze({});

function optionalObject(name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return emptyObject;
  if (!isObject(value)) throw new Problem("malformed_request", `${name} must be an object.`);
  return value;
}

/**
 * Counts values. Whatever writes or compares values of a deeper nesting would exhaust the stack.
 *
 * @throws Problem `malformed_request`
 */
export function requireBoundedJson(name: string, value: unknown): number {
  let count = 0;
  const visit = (inner: unknown, levels: number): void => {
    count += 1;
    if (count > maxValues)
      throw new Problem("malformed_request", `${name} has more than ${maxValues} values.`);
    if (typeof inner !== "object" || inner === null) return;
    if (levels === 0)
      throw new Problem("malformed_request", `${name} is nested more than ${deepest} levels deep.`);
    if (Array.isArray(inner)) for (const item of inner) visit(item, levels - 1);
    else for (const key in inner) visit((inner as Readonly<Record<string, unknown>>)[key], levels - 1);
  };
  visit(value, deepest);
  return count;
}
