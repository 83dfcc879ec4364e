// The arguments of lists and connections become the parts of a `Read`.

import { isStorable } from "../../engine/validation/storable.ts";
import { validationError } from "../../errors.ts";
import type { ResourceModel } from "../../model/model.ts";
import { defaultSort } from "../../model/model.ts";
import { defaultLimit, maxLimit } from "../../model/operation-parameters.ts";
import type {
  Comparison,
  Container,
  CursorPage,
  ListRequest,
  Selection,
  Sort,
  Value,
} from "../../query/read.ts";
import type { ListArguments } from "./field-mapping.ts";
import { rangeName, rangeOperators } from "./inputs.ts";
import { defaultListLimit } from "./naming.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** An unusable limit is replaced by the default, a larger one by the largest. */
export function clampLimit(args: unknown, fallback: number = defaultListLimit): number {
  return typeof args !== "number" || args < 1 ? fallback : Math.min(args, maxLimit);
}

/** How many rows a page has. */
export function connectionLimit({ first, last }: ListArguments): number {
  return clampLimit(first ?? last, defaultLimit);
}

/** The order of a list that names none: newest first. */
export function newestFirst(resource: ResourceModel): Sort {
  return { attribute: resource.sorts.get(defaultSort)!, isDescending: true };
}

/** The parent that the arguments name, for a resource that is nested under another. */
export function parentContainer({ parent }: ResourceModel, args: Arguments): Container | undefined {
  return parent && { by: parent, id: String(args[parent.name]) };
}

/** @throws Problem `validation_error` for arguments that exclude each other */
export function connectionRequest(
  resource: ResourceModel,
  args: ListArguments & Arguments,
  selection: Selection,
  includesCursors: boolean,
): ListRequest {
  const { first, last, after, before, filter, sort } = args;
  requireExclusive("last", "first", last, first);
  requireExclusive("before", "first", before, first);
  requireExclusive("after", "last", after, last);
  requireExclusive("before", "after", before, after);
  const isBackward = isPresent(last) || isPresent(before);
  const page: CursorPage = {
    style: "cursor",
    limit: connectionLimit(args),
    cursor: (isBackward ? before : after) ?? undefined,
    isBackward,
    includesCursors,
  };
  const within = parentContainer(resource, args);
  const conditions = filterConditions(resource, filter ?? noFilter);
  return { resource, within, selection, conditions, words: [], sort: sort ?? newestFirst(resource), page };
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function requireExclusive(name: string, other: string, one: unknown, another: unknown): void {
  if (isPresent(one) && isPresent(another))
    throw validationError(name, "duplicate", `${name} does not go together with ${other}.`);
}

/** Values of one filter. */
const maxValues = 50;

/** Without a prototype, as arguments are: a field may be called `constructor`. */
const noFilter: Arguments = Object.freeze(Object.create(null));

/** @throws Problem `validation_error` */
export function filterConditions(resource: ResourceModel, filter: Arguments): Comparison[] {
  const conditions: Comparison[] = [];
  for (const { attribute, hasRange } of resource.filters.values()) {
    const any = filter[attribute.name];
    if (Array.isArray(any)) {
      // Counted as they come: one long list may be the filter of many fields.
      if (any.length > maxValues)
        throw validationError(
          `filter.${attribute.name}`,
          "max",
          `${attribute.name} has more than ${maxValues} values.`,
        );
      const values = [...new Set(any as Value[])];
      for (const value of values) requireStorable(attribute.name, value);
      conditions.push({ attribute, operator: "in", values });
    }
    if (!hasRange) continue;
    for (const operator of rangeOperators) {
      const end = filter[rangeName(attribute, operator)];
      if (!isPresent(end)) continue;
      requireStorable(rangeName(attribute, operator), end as Value);
      conditions.push({ attribute, operator, values: [end as Value] });
    }
  }
  return conditions;
}

function requireStorable(name: string, value: Value): void {
  if (typeof value === "string" && !isStorable(value))
    throw validationError(`filter.${name}`, "format", `${name} holds a character that no field can hold.`);
}
