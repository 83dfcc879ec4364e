// The query parameters of an operation, checked against its declaration.

import { InvalidInput } from "../../engine/validation/invalid-input.ts";
import { repeatedParameter, unknownParameter } from "../../engine/validation/messages.ts";
import type { InputError } from "../../errors.ts";
import type { Parameter } from "../../model/operation-parameters.ts";
import type { Operation } from "../../model/operations.ts";
import { parseQuery, type Query } from "../../query/query-string.ts";

/** By name. */
export type QueryParameters = ReadonlyMap<string, Parameter>;

export function queryParametersOf({ parameters }: Pick<Operation, "parameters">): QueryParameters {
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  return new Map(inQuery.map((parameter) => [parameter.name, parameter]));
}

/** The error of a parameter that the operation does not have, or that occurs too often. */
export function parameterError(
  parameter: Parameter | undefined,
  name: string,
  values: readonly string[],
): InputError | undefined {
  if (!parameter) return unknownParameter(name);
  const { maxCount } = parameter;
  if (values.length <= maxCount) return undefined;
  return maxCount === 1
    ? repeatedParameter(name)
    : { field: name, issue: "max", text: `must have at most ${maxCount} values` };
}

/** The query of a request target, if the operation has all of its parameters. @throws InvalidInput */
export function requireParameters(parameters: QueryParameters, target: string): Query {
  const query = parseQuery(target);
  if (query.size === 0) return query;
  const errors = [...query].flatMap(
    ([name, values]) => parameterError(parameters.get(name), name, values) ?? [],
  );
  if (errors.length > 0) throw new InvalidInput(errors);
  return query;
}
