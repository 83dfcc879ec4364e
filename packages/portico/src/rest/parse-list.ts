// Turns the query of a collection into a list request. An unknown parameter is an error and never ignored, because a
// misspelt filter must not return all rows.

import { InvalidInput } from "../engine/validation/validate.ts";
import type { FieldError } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";
import { defaultSort } from "../model/model.ts";
import { parseLimit } from "../query/page.ts";
import type { Query } from "../query/query-string.ts";
import type {
  Condition,
  Container,
  CursorPage,
  ListRequest,
  NumberedPage,
  Selection,
  Sort,
} from "../query/read.ts";
import { searchWords } from "../query/search-terms.ts";
import { wholeRow } from "../query/selection.ts";
import { parseFields } from "./fields.ts";
import { parseFilter } from "./filter.ts";

/** @throws InvalidInput with every error in the query */
export function parseList(resource: ResourceModel, within: Container | undefined, query: Query): ListRequest {
  const errors: FieldError[] = [];
  const single = new Map<string, string>();
  const conditions: Condition[] = [];
  for (const [name, values] of query) {
    const isSingle = isParameter(resource, name);
    if (isSingle) single.set(name, values[0]!);
    if (isSingle && values.length > 1)
      errors.push({ field: name, issue: "duplicate", text: "is given more than once" });
    if (isSingle) continue;
    const condition = parseFilter(resource, name, values, errors);
    if (condition) conditions.push(condition);
    else errors.push(unknownParameter(resource, name));
  }
  if (single.has("limit") && single.has("perPage")) {
    errors.push({ field: "perPage", issue: "duplicate", text: "says the same as limit; give one of them" });
  }
  const sort = parseSort(resource, single.get("sort"), errors);
  const selection = parseSelection(resource, single.get("fields"), errors);
  const words = searchWords(single.get("q") ?? "");
  const isBackward = parseDirection(single.get("direction"), errors);
  const number = parsePageNumber(single.get("page"), errors);
  if (errors.length > 0) throw new InvalidInput(errors);

  const limit = parseLimit(single.get("limit") ?? single.get("perPage"));
  const page: CursorPage | NumberedPage =
    resource.paging === "page"
      ? { style: "page", limit, number }
      : { style: "cursor", limit, cursor: single.get("cursor"), isBackward };
  return { resource, within, selection, conditions, words, sort, page };
}

/** The selection of a single row's query: `fields` is its only parameter. */
export function parseOne(resource: ResourceModel, query: Query): Selection {
  if (query.size === 0) return wholeRow(resource);
  const errors: FieldError[] = [];
  for (const [name, values] of query) {
    if (name !== "fields")
      errors.push({ field: name, issue: "unknown", text: "is no parameter of a single resource" });
    else if (values.length > 1)
      errors.push({ field: name, issue: "duplicate", text: "is given more than once" });
  }
  const selection = parseSelection(resource, query.get("fields")?.[0], errors);
  if (errors.length > 0) throw new InvalidInput(errors);
  return selection;
}

/** Writes have no parameters. */
export function refuseParameters(query: Query): void {
  if (query.size === 0) return;
  const errors = [...query.keys()].map((name): FieldError => {
    return { field: name.slice(0, 100), issue: "unknown", text: "is no parameter of this method" };
  });
  throw new InvalidInput(errors);
}

const commonParameters = new Set(["sort", "fields", "limit"]);
const cursorParameters = new Set(["cursor", "direction"]);
const pageParameters = new Set(["page", "perPage"]);

function isParameter({ paging, search }: ResourceModel, name: string): boolean {
  if (commonParameters.has(name)) return true;
  if (name === "q") return search.length > 0;
  return paging === "page" ? pageParameters.has(name) : cursorParameters.has(name);
}

function unknownParameter({ paging, segment }: ResourceModel, name: string): FieldError {
  const field = name.slice(0, 100);
  if (cursorParameters.has(name) || pageParameters.has(name)) {
    const style = paging === "page" ? "page and perPage" : "cursor and limit";
    return { field, issue: "unknown", text: `does not belong to ${segment}, which are paged with ${style}` };
  }
  return { field, issue: "unknown", text: `is no parameter or filter of ${segment}` };
}

function parseSort(resource: ResourceModel, text: string | undefined, errors: FieldError[]): Sort {
  const isDescending = text === undefined || text.startsWith("-");
  const name = text === undefined ? defaultSort : text.replace(/^-/, "");
  const attribute = resource.sorts.get(name);
  if (attribute) return { attribute, isDescending };
  const choices = [...resource.sorts.keys()].join(", ");
  errors.push({
    field: "sort",
    issue: "choice",
    text: `must be one of ${choices}, with - before it for descending`,
  });
  return { attribute: resource.sorts.get(defaultSort)!, isDescending };
}

function parseSelection(resource: ResourceModel, text: string | undefined, errors: FieldError[]): Selection {
  return text === undefined ? wholeRow(resource) : parseFields(resource, text, errors);
}

function parseDirection(text: string | undefined, errors: FieldError[]): boolean {
  if (text !== undefined && text !== "forward" && text !== "backward") {
    errors.push({ field: "direction", issue: "choice", text: "must be forward or backward" });
  }
  return text === "backward";
}

/** Pages are counted through from the first, so their number is bounded. */
const maxPage = 100_000;

function parsePageNumber(text: string | undefined, errors: FieldError[]): number {
  if (text === undefined) return 1;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(number)) errors.push({ field: "page", issue: "type", text: "must be a whole number" });
  if (number < 1) errors.push({ field: "page", issue: "min", text: "counts from 1" });
  if (number > maxPage) errors.push({ field: "page", issue: "max", text: `must be at most ${maxPage}` });
  return number;
}
