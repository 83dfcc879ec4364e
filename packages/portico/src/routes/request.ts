// The values of a request to a route: path, query string and body, validated like the body of a resource.

import type { FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import type { FieldShape } from "../declare/field.ts";
import type { Engine } from "../engine/engine.ts";
import { InvalidInput } from "../engine/validation/invalid-input.ts";
import { repeatedParameter, unknownParameter } from "../engine/validation/messages.ts";
import type { InputError } from "../errors.ts";
import type { RequestShape } from "../model/model.ts";
import type { RouteModel } from "../model/route.ts";
import { parseQuery } from "../query/query-string.ts";
import type { RowValues } from "../query/write.ts";

export interface RouteValues {
  readonly parameters: RowValues;
  readonly query: RowValues;
  readonly input: RowValues;
}

export type ParametersRequest = FastifyRequest<{ Params: Readonly<Record<string, string>> }>;

export class RequestParser {
  readonly #engine: Engine;
  readonly #route: RouteModel;

  constructor(engine: Engine, route: RouteModel) {
    this.#engine = engine;
    this.#route = route;
  }

  /** @throws InvalidInput with all errors of the request */
  parse({ params, url, body, method }: ParametersRequest, caller: Caller, now: string): RouteValues {
    const { parameters, query, input } = this.#route;
    const errors: InputError[] = [];
    const valid = (shape: RequestShape, values: unknown): RowValues => {
      try {
        return this.#engine.validated(shape, values, caller, now);
      } catch (error) {
        if (!(error instanceof InvalidInput)) throw error;
        errors.push(...error.errors);
        return {};
      }
    };
    const values = {
      parameters: valid(parameters, parameterValues(parameters, params)),
      query: valid(query, queryValues(query, url, errors)),
      // Fastify does not read the body of a GET or a HEAD.
      input: method === "GET" || method === "HEAD" ? {} : valid(input, body),
    };
    if (errors.length > 0) throw new InvalidInput(errors);
    return values;
  }
}

function parameterValues(
  { attributes }: RequestShape,
  params: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ name, field }) => [name, valueOfText(field, params[name]!)]));
}

/** Adds an error for each parameter that is not declared, or that occurs too often. */
function queryValues(
  { attribute }: RequestShape,
  target: string,
  errors: InputError[],
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [name, texts] of parseQuery(target)) {
    const field = attribute.get(name)?.field;
    if (!field) errors.push(unknownParameter(name));
    else if (field.kind === "list") values[name] = texts.map((text) => valueOfText(field.item, text));
    else if (texts.length > 1) errors.push(repeatedParameter(name));
    else values[name] = valueOfText(field, texts[0]!);
  }
  return values;
}

/** A text as the value of a field in JSON. One that has another form stays text, which the schema refuses. */
function valueOfText({ kind }: Pick<FieldShape, "kind">, text: string): unknown {
  switch (kind) {
    case "integer":
      return /^-?\d+$/.test(text) ? Number(text) : text;
    case "number":
      return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
    case "boolean":
      return text === "true" || text === "false" ? text === "true" : text;
    default:
      return text;
  }
}
