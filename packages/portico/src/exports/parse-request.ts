// Turns the query of an export into a request for rows.

import type { StreamRequest } from "../engine/row-stream.ts";
import { InvalidInput } from "../engine/validation/invalid-input.ts";
import { unknownParameter } from "../engine/validation/messages.ts";
import type { InputError } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";
import { pagingParameters, parametersOf } from "../model/operation-parameters.ts";
import type { Query } from "../query/query-string.ts";
import type { Sort } from "../query/read.ts";
import { parseList } from "../rest/query/list.ts";
import { parameterError, type QueryParameters, queryParametersOf } from "../rest/query/parameters.ts";
import { type Format, formats, maxRows, ownParameters } from "./operation.ts";

export interface ExportRequest extends StreamRequest {
  /** Undefined where the header `Accept` decides. */
  readonly format: Format | undefined;
}

const own: QueryParameters = queryParametersOf({ parameters: ownParameters });

/** The parameters that an export of these rows has in common with their list. */
export function listParametersOf(resource: ResourceModel): QueryParameters {
  const parameters = queryParametersOf({ parameters: parametersOf(resource, { kind: "list", path: "" }) });
  return new Map([...parameters].filter(([name]) => !own.has(name) && !pagingParameters.includes(name)));
}

/** @param parameters those of `listParametersOf` @throws InvalidInput with every error in the query */
export function parseExport(
  resource: ResourceModel,
  parameters: QueryParameters,
  query: Query,
): ExportRequest {
  const errors: InputError[] = [];
  const single = new Map<string, string>();
  const ofList = new Map<string, readonly string[]>();
  for (const [name, values] of query) {
    if (parameters.has(name)) {
      ofList.set(name, values);
      continue;
    }
    const error = own.has(name) ? parameterError(own.get(name), name, values) : unknownParameter(name);
    if (error) errors.push(error);
    single.set(name, values[0]!);
  }
  const format = choice("format", single.get("format"), formats, errors);
  const total = choice("total", single.get("total"), ["true", "false"], errors);
  const list = parseRows(resource, parameters, ofList as Query, errors);
  if (!list) throw new InvalidInput(errors);
  const { selection, conditions, words } = list;
  return {
    ...{ resource, selection, conditions, words, format },
    sort: query.has("sort") ? list.sort : byId(resource),
    limit: parseLimit(single.get("limit")),
    after: single.get("after"),
    isCounted: total === "true",
  };
}

/** The part of the request that a list has as well; undefined if there is any error. */
function parseRows(
  resource: ResourceModel,
  parameters: QueryParameters,
  query: Query,
  errors: InputError[],
): ReturnType<typeof parseList> | undefined {
  try {
    const list = parseList(resource, parameters, undefined, query);
    return errors.length === 0 ? list : undefined;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    errors.push(...error.errors);
    return undefined;
  }
}

function choice<Value extends string>(
  field: string,
  text: string | undefined,
  choices: readonly Value[],
  errors: InputError[],
): Value | undefined {
  const known = choices.find((each) => each === text);
  if (text !== undefined && known === undefined)
    errors.push({ field, issue: "choice", text: `must be one of ${choices.join(", ")}` });
  return known;
}

/** An invalid limit becomes the default, and a larger one the maximum, as in lists. */
function parseLimit(text: string | undefined): number {
  const limit = text !== undefined && /^\d+$/.test(text) ? Number(text) : maxRows;
  return limit < 1 ? maxRows : Math.min(limit, maxRows);
}

function byId({ attribute }: ResourceModel): Sort {
  return [{ attribute: attribute.get("id")!, isDescending: false }];
}
