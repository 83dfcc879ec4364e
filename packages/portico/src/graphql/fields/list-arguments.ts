// The arguments of lists and connections, and what they mean for a read.

import {
  type GraphQLFieldConfigArgumentMap,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from "graphql";
import { validationError } from "../../errors.ts";
import type { ResourceModel } from "../../model/model.ts";
import { defaultLimit, maxLimit, maxSortKeys } from "../../model/operation-parameters.ts";
import type { Container, CursorPage, ListRequest, Selection, Sort, SortKey } from "../../query/read.ts";
import { combinedSort, newestFirst, repeatedField } from "../../query/sort.ts";
import type { AttributeTypes } from "../schema/attribute-type.ts";
import { filterInput, sortEnum } from "../schema/inputs.ts";
import { defaultListLimit } from "../schema/naming.ts";
import { requiredId } from "../schema/shared-types.ts";
import { deletedArgument } from "./deleted-rows.ts";
import type { Arguments } from "./field-mapping.ts";
import { filterConditions } from "./filter-arguments.ts";

/** The coerced arguments of a connection. The value of a sort enumeration is a `Sort` by one key. */
export interface ConnectionArguments {
  readonly first?: number | null;
  readonly last?: number | null;
  readonly after?: string | null;
  readonly before?: string | null;
  readonly filter?: Arguments | null;
  readonly sort?: Sort | null;
  readonly sorts?: readonly Sort[] | null;
}

export function pageArgumentsOf(
  resource: ResourceModel,
  types: AttributeTypes,
): GraphQLFieldConfigArgumentMap {
  const filter = filterInput(types, resource);
  const sort = sortEnum(resource);
  return {
    ...parentArgument(resource),
    first: { type: GraphQLInt, description: `${defaultLimit} by default, ${maxLimit} at most.` },
    after: { type: GraphQLString },
    last: { type: GraphQLInt },
    before: { type: GraphQLString },
    ...(filter && { filter: { type: filter } }),
    ...deletedArgument(resource),
    sort: { type: sort, default: { value: "CREATED_AT_DESC" } },
    sorts: {
      type: new GraphQLList(new GraphQLNonNull(sort)),
      description: `Up to ${maxSortKeys} sorts, the most significant first, instead of sort.`,
    },
  };
}

/** The argument for the id of the parent row. */
export function parentArgument({ parent }: ResourceModel): GraphQLFieldConfigArgumentMap {
  return parent ? { [parent.name]: { type: requiredId } } : {};
}

/** The number of rows for a limit. A limit below 1 becomes the default, one above the maximum becomes the maximum. */
export function clampLimit(limit: unknown, fallback: number = defaultListLimit): number {
  return typeof limit !== "number" || limit < 1 ? fallback : Math.min(limit, maxLimit);
}

/** The number of rows of a page. */
export function connectionLimit({ first, last }: ConnectionArguments): number {
  return clampLimit(first ?? last, defaultLimit);
}

/** The parent row in the arguments, for a resource that is nested under another. */
export function parentContainer({ parent }: ResourceModel, args: Arguments): Container | undefined {
  return parent && { by: parent, id: String(args[parent.name]) };
}

/** The page that arguments ask for. @throws Problem `validation_error` for arguments that exclude each other */
export function pageArguments(
  args: ConnectionArguments,
): Pick<CursorPage, "limit" | "cursor" | "isBackward"> {
  const { first, last, after, before } = args;
  requireExclusive("last", "first", last, first);
  requireExclusive("before", "first", before, first);
  requireExclusive("after", "last", after, last);
  requireExclusive("before", "after", before, after);
  const isBackward = isPresent(last) || isPresent(before);
  const cursor = (isBackward ? before : after) ?? undefined;
  return { limit: connectionLimit(args), cursor, isBackward };
}

/** @throws Problem `validation_error` for arguments that exclude each other */
export function connectionRequest(
  resource: ResourceModel,
  args: ConnectionArguments & Arguments,
  selection: Selection,
  includesCursors: boolean,
): ListRequest {
  const { filter } = args;
  const page: CursorPage = { ...pageArguments(args), style: "cursor", includesCursors };
  const within = parentContainer(resource, args);
  const conditions = filterConditions(resource, filter ?? noFilter);
  return { resource, within, selection, conditions, words: [], sort: connectionSort(resource, args), page };
}

/** @throws Problem `validation_error` */
function connectionSort(resource: ResourceModel, { sort, sorts }: ConnectionArguments): Sort {
  const single = sort ?? newestFirst(resource);
  if (!sorts || sorts.length === 0) return single;
  // The default value of `sort` cannot be told from the same value in the document.
  if (single !== newestFirst(resource)) requireExclusive("sorts", "sort", sorts, sort);
  if (sorts.length > maxSortKeys)
    throw validationError("sorts", "max", `sorts must have at most ${maxSortKeys} values.`);
  const keys = sorts.map(([key]) => key) as [SortKey, ...SortKey[]];
  const repeated = repeatedField(keys)?.name;
  if (repeated !== undefined)
    throw validationError("sorts", "duplicate", `sorts must not have ${repeated} twice.`);
  return combinedSort(keys);
}

/** Whether an argument has a value other than null. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function requireExclusive(name: string, other: string, value: unknown, otherValue: unknown): void {
  if (isPresent(value) && isPresent(otherValue))
    throw validationError(name, "duplicate", `${name} cannot be combined with ${other}.`);
}

/** Without a prototype, because a field can be called `constructor`. */
const noFilter: Arguments = Object.freeze(Object.create(null));
