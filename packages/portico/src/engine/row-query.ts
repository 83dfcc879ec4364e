// What code of declarations asks for: conditions, sorts and limits, which come from code, so nothing about them is known.

import type { ListOptions } from "../declare/rows.ts";
import type { ResourceModel } from "../model/model.ts";
import { maxSortKeys } from "../model/operation-parameters.ts";
import { comparableOf } from "../query/comparable.ts";
import type { Condition } from "../query/condition.ts";
import { describeValue, isPlainObject } from "../query/plain-object.ts";
import type { Sort, SortKey } from "../query/read.ts";
import { combinedSort, newestFirst, repeatedField } from "../query/sort.ts";
import { parseWhere } from "../query/where.ts";

/** Rows of one list. */
export const maxListed = 1_000;

/** Throws an error about what a resource was asked for. */
export type RefuseQuery = (remedy: string) => never;

/** @param refuse for a condition that is wrong, or has a value that is undefined */
export function parseCodeWhere(
  resource: ResourceModel,
  where: unknown,
  refuse: RefuseQuery,
): readonly Condition[] {
  return parseWhere(resource, where, {
    refusesUndefined: true,
    allowsInternal: true,
    refuse: ({ name }, field, remedy) =>
      refuse(`resource ${name}${field === undefined ? "" : `, field ${field}`}: the condition ${remedy}`),
  });
}

export interface ParsedListOptions {
  readonly sort: Sort;
  readonly limit: number | undefined;
  readonly after: string | undefined;
}

export function parseListOptions(
  resource: ResourceModel,
  options: ListOptions,
  refuse: RefuseQuery,
): ParsedListOptions {
  if (!isPlainObject(options))
    refuse(`has ${describeValue(options)} as options; write { sort: "-createdAt", limit: 100 }`);
  const unknown = Object.keys(options).find((name) => !["sort", "limit", "after"].includes(name));
  if (unknown !== undefined) refuse(`has the unknown option ${unknown}; use sort, limit or after`);
  const { sort, limit, after } = options as ListOptions;
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= maxListed))
    refuse(`has a limit that is not a whole number from 1 to ${maxListed}`);
  if (after !== undefined && typeof after !== "string") refuse("has an after that is not the id of a row");
  return { sort: parseSort(resource, sort, refuse), limit, after };
}

function parseSort(resource: ResourceModel, sort: unknown, refuse: RefuseQuery): Sort {
  if (sort === undefined) return newestFirst(resource);
  const names: readonly unknown[] = Array.isArray(sort) ? sort : [sort];
  if (names.length === 0 || names.length > maxSortKeys)
    refuse(`has a sort by ${names.length} fields; use 1 to ${maxSortKeys}`);
  const keys = names.map((name) => sortKey(resource, name, refuse));
  const repeated = repeatedField(keys)?.name;
  if (repeated !== undefined) refuse(`has ${repeated} twice in its sort`);
  return combinedSort(keys as [SortKey, ...SortKey[]]);
}

/** Every field can be sorted by that can be compared: unlike callers, code can be trusted with what has no index. */
function sortKey(resource: ResourceModel, name: unknown, refuse: RefuseQuery): SortKey {
  const isDescending = typeof name === "string" && name.startsWith("-");
  const attribute = resource.attribute.get(String(name).slice(isDescending ? 1 : 0));
  if (attribute && comparableOf(attribute) && !attribute.statusRules) return { attribute, isDescending };
  return refuse(
    `has a sort by ${typeof name === "string" ? name : describeValue(name)}; use the name of a field that has an order, "title" or "-title"`,
  );
}
