// Turns the query of a collection into a list request. An unknown parameter is an error and never ignored, because a
// misspelt filter must not return all rows.

import { InvalidInput } from "../../engine/validation/invalid-input.ts";
import type { InputError } from "../../errors.ts";
import type { ResourceModel } from "../../model/model.ts";
import {
  deletedParameter,
  maxPage,
  maxSortKeys,
  pagingParameters,
} from "../../model/operation-parameters.ts";
import type { Condition } from "../../query/condition.ts";
import { parseLimit } from "../../query/page.ts";
import type { Query } from "../../query/query-string.ts";
import type { Container, ListRequest, ReadOne, Selection, Sort, SortKey } from "../../query/read.ts";
import { searchWords } from "../../query/search-terms.ts";
import { wholeRow } from "../../query/selection.ts";
import { combinedSort, newestFirst, repeatedField, singleSort } from "../../query/sort.ts";
import { parseFields } from "./fields.ts";
import { parseFilter } from "./filter.ts";
import { parameterError, type QueryParameters } from "./parameters.ts";

/** @throws InvalidInput with every error in the query */
export function parseList(
  collection: ResourceModel,
  parameters: QueryParameters,
  within: Container | undefined,
  query: Query,
): ListRequest {
  const errors: InputError[] = [];
  const single = new Map<string, string>();
  const conditions: Condition[] = [];
  for (const [name, values] of query) {
    const parameter = parameters.get(name);
    const error = otherPaging(collection, parameters, name) ?? parameterError(parameter, name, values);
    if (error) errors.push(error);
    if (parameter?.filter) conditions.push(parseFilter(parameter.filter, name, values, errors));
    else single.set(name, values[0]!);
  }
  if (single.has("limit") && single.has("perPage"))
    errors.push({ field: "perPage", issue: "duplicate", text: "must not be combined with limit" });
  const resource = parseDeleted(collection, single.get(deletedParameter), errors);
  if (resource.deletedOf && single.has("q"))
    errors.push({ field: "q", issue: "unknown", text: "is not supported: deleted rows are not searched" });
  const sort = parseSort(resource, single.get("sort"), errors);
  const selection = parseSelection(resource, single.get("fields"), errors);
  const words = searchWords(single.get("q") ?? "");
  const page = parsePage(resource, single, errors);
  if (errors.length > 0) throw new InvalidInput(errors);
  return { resource: resource.current ?? resource, within, selection, conditions, words, sort, page };
}

/** What the query of a single row asks for. @throws InvalidInput */
export function parseRow(collection: ResourceModel, query: Query): Pick<ReadOne, "resource" | "selection"> {
  const errors: InputError[] = [];
  const resource = parseDeleted(collection, query.get(deletedParameter)?.[0], errors);
  const selection = parseSelection(resource, query.get("fields")?.[0], errors);
  if (errors.length > 0) throw new InvalidInput(errors);
  return { resource: resource.current ?? resource, selection };
}

/** The resource whose rows are asked for: the deleted rows of a resource, or the others. */
function parseDeleted(
  resource: ResourceModel,
  text: string | undefined,
  errors: InputError[],
): ResourceModel {
  if (text !== undefined && text !== "true" && text !== "false")
    errors.push({ field: deletedParameter, issue: "type", text: "must be true or false" });
  // Other resources do not have the parameter.
  return text === "true" && resource.isSoftDeleted ? resource.deletedRows! : resource;
}

/** The error of a parameter that belongs to the style of paging that the resource does not have. */
function otherPaging(
  { paging, segment }: ResourceModel,
  parameters: QueryParameters,
  name: string,
): InputError | undefined {
  if (!pagingParameters.includes(name) || parameters.has(name)) return undefined;
  const supported = paging === "page" ? "page and perPage" : "cursor and limit";
  return { field: name, issue: "unknown", text: `is not supported: ${segment} are paged with ${supported}` };
}

function parseSort(resource: ResourceModel, text: string | undefined, errors: InputError[]): Sort {
  if (text === undefined) return newestFirst(resource);
  const only = singleSort(resource, text);
  if (only) return only;
  const keys = text.split(",", maxSortKeys + 1).map((each) => singleSort(resource, each)?.[0]);
  const error = sortError(resource, keys);
  if (!error) return combinedSort(keys as [SortKey, ...SortKey[]]);
  errors.push(error);
  return newestFirst(resource);
}

/** @param keys undefined for a field that the resource is not sorted by */
function sortError(resource: ResourceModel, keys: readonly (SortKey | undefined)[]): InputError | undefined {
  const field = "sort";
  const known = keys.filter((key) => key !== undefined);
  if (known.length < keys.length) {
    const choices = [...resource.sorts.keys()].join(", ");
    return {
      field,
      issue: "choice",
      text: `must be one of ${choices}, with a leading - for descending order`,
    };
  }
  if (keys.length > maxSortKeys)
    return { field, issue: "max", text: `must have at most ${maxSortKeys} fields` };
  const repeated = repeatedField(known);
  if (!repeated) return undefined;
  const [name] = [...resource.sorts].find(([, attribute]) => attribute === repeated)!;
  return { field, issue: "duplicate", text: `must not have ${name} twice` };
}

function parseSelection(resource: ResourceModel, text: string | undefined, errors: InputError[]): Selection {
  return text === undefined ? wholeRow(resource) : parseFields(resource, text, errors);
}

function parsePage(
  { paging }: ResourceModel,
  single: ReadonlyMap<string, string>,
  errors: InputError[],
): ListRequest["page"] {
  const limit = parseLimit(single.get("limit") ?? single.get("perPage"));
  if (paging === "page") return { style: "page", limit, number: parsePageNumber(single.get("page"), errors) };
  const isBackward = parseDirection(single.get("direction"), errors);
  return { style: "cursor", limit, cursor: single.get("cursor"), isBackward };
}

function parseDirection(text: string | undefined, errors: InputError[]): boolean {
  if (text !== undefined && text !== "forward" && text !== "backward")
    errors.push({ field: "direction", issue: "choice", text: "must be forward or backward" });
  return text === "backward";
}

function parsePageNumber(text: string | undefined, errors: InputError[]): number {
  if (text === undefined) return 1;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(number)) errors.push({ field: "page", issue: "type", text: "must be a whole number" });
  if (number < 1) errors.push({ field: "page", issue: "min", text: "must be at least 1" });
  if (number > maxPage) errors.push({ field: "page", issue: "max", text: `must be at most ${maxPage}` });
  return number;
}
