// The arguments of lists and connections become the parts of a `Read`.

import type { ResourceModel } from "../declare/model.ts";
import { defaultSort } from "../declare/model.ts";
import { isStorable } from "../engine/validate.ts";
import { fault } from "../errors.ts";
import type { CursorCodec } from "../plan/cursor.ts";
import { listKey } from "../plan/cursor.ts";
import { defaultLimit, largestLimit } from "../plan/page.ts";
import type { Comparison, CursorPage, Read, Selection, Sort, Value } from "../plan/read.ts";
import { rangeName, rangeOperators } from "./inputs.ts";
import type { ListArguments } from "./meaning.ts";
import { plainLimit } from "./naming.ts";

type Given = Readonly<Record<string, unknown>>;

/** An unusable limit is replaced by the default, a larger one by the largest. */
export function limitOf(given: unknown, standard: number = plainLimit): number {
  return typeof given !== "number" || given < 1 ? standard : Math.min(given, largestLimit);
}

/** How many rows a page has. */
export function connectionLimit({ first, last }: ListArguments): number {
  return limitOf(first ?? last, defaultLimit);
}

/** The order of a list that names none: newest first. */
export function newestFirst(resource: ResourceModel): Sort {
  return { attribute: resource.sorts.get(defaultSort)!, isDescending: true };
}

/** The rows below the parent that the arguments name, for a resource that stands under another. */
export function parentConditions({ parent }: ResourceModel, given: Given): Comparison[] {
  return parent ? [{ attribute: parent, operator: "in", values: [String(given[parent.name])] }] : [];
}

/** A connection as it will be read, but for the place where it begins: that depends on whose list it is. */
export interface PlannedPage {
  readonly read: Read;
  readonly token: string | undefined;
  /** What its cursors belong to, but for the tenant. */
  readonly collection: string;
}

/** @throws Problem `validation_error` for arguments that do not go together */
export function planPage(
  resource: ResourceModel,
  given: ListArguments & Given,
  selection: Selection,
  isEveryPlaceTold: boolean,
): PlannedPage {
  const { first, last, after, before, filter, sort } = given;
  requireOneWay("last", "first", last, first);
  requireOneWay("before", "first", before, first);
  requireOneWay("after", "last", after, last);
  requireOneWay("before", "after", before, after);
  const isBackward = isGiven(last) || isGiven(before);
  const above = parentConditions(resource, given);
  const page: CursorPage = {
    style: "cursor",
    limit: connectionLimit(given),
    position: undefined,
    isBackward,
    isEveryPlaceTold,
  };
  const conditions = [...above, ...filterConditions(resource, filter ?? noFilter)];
  const read = { resource, selection, conditions, words: [], sort: sort ?? newestFirst(resource), page };
  const collection = above[0] ? `${above[0].values[0]}/${resource.segment}` : resource.segment;
  return { read, token: (isBackward ? before : after) ?? undefined, collection };
}

/** The read of a page for one tenant, and what its cursors are bound to. @throws Problem `invalid_cursor` */
export function placedPage(
  { read, token, collection }: PlannedPage,
  tenantId: string,
  cursors: CursorCodec,
): { readonly read: Read; readonly page: CursorPage; readonly key: string } {
  const { sort, conditions, words } = read;
  const key = listKey({ tenantId, collection, sort, conditions, words });
  const position = token === undefined ? undefined : cursors.decode(key, sort, token);
  // Made by `planPage`.
  const page = { ...(read.page as CursorPage), position };
  return { read: { ...read, page }, page, key };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function requireOneWay(name: string, other: string, one: unknown, another: unknown): void {
  if (isGiven(one) && isGiven(another))
    throw fault(name, "duplicate", `${name} does not go together with ${other}.`);
}

/** Values of one filter. */
const mostValues = 50;

/** Without a prototype, as arguments are: a field may be called `constructor`. */
const noFilter: Given = Object.freeze(Object.create(null));

/** @throws Problem `validation_error` */
export function filterConditions(resource: ResourceModel, filter: Given): Comparison[] {
  const conditions: Comparison[] = [];
  for (const { attribute, hasRange } of resource.filters.values()) {
    const any = filter[attribute.name];
    if (Array.isArray(any)) {
      // Counted as they come: one long list may be the filter of many fields.
      if (any.length > mostValues)
        throw fault(
          `filter.${attribute.name}`,
          "max",
          `${attribute.name} has more than ${mostValues} values.`,
        );
      const values = [...new Set(any as Value[])];
      for (const value of values) requireStorable(attribute.name, value);
      conditions.push({ attribute, operator: "in", values });
    }
    if (!hasRange) continue;
    for (const operator of rangeOperators) {
      const end = filter[rangeName(attribute, operator)];
      if (!isGiven(end)) continue;
      requireStorable(rangeName(attribute, operator), end as Value);
      conditions.push({ attribute, operator, values: [end as Value] });
    }
  }
  return conditions;
}

function requireStorable(name: string, value: Value): void {
  if (typeof value === "string" && !isStorable(value))
    throw fault(`filter.${name}`, "format", `${name} holds a character that no field can hold.`);
}
