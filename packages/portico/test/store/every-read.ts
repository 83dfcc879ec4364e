// Every shape of page that the declarations of a model allow: each sort, direction, filter and kind of position.

import { orderedChoices } from "../../src/declare/field.ts";
import { type Attribute, defaultSort, type Model, type ResourceModel } from "../../src/model/model.ts";
import type { Comparison, Value } from "../../src/query/condition.ts";
import type { Position, Read } from "../../src/query/read.ts";
import { wholeRow } from "../../src/query/selection.ts";

export interface NamedRead {
  /** `post: status=, -title, backward from a value` */
  readonly name: string;
  readonly read: Read;
  /** The filters, in addition to that of the parent. */
  readonly filters: readonly Attribute[];
  readonly way: Way;
  /** Whether nulls split the rest of the list into two ranges of the index. */
  readonly isMerged: boolean;
}

/** How a page is read: along a range of one index, or along the index of its sort, where the filter is tested row by row. */
export type Way = "along a range" | "along the sort";

export function everyRead(model: Model): NamedRead[] {
  return model.resources.flatMap((resource) =>
    [...resource.sorts.values()].flatMap((sort) =>
      filtersOf(resource, sort).flatMap((conditions) =>
        [false, true].flatMap((isDescending) =>
          pagesOf(resource, sort, isDescending, conditions).map(({ name, page, isMerged }): NamedRead => {
            const filterName = conditions.map((each) => `${each.attribute.name} ${each.operator}, `).join("");
            return {
              name: `${resource.name}: ${filterName}${isDescending ? "-" : ""}${sort.name}, ${name}`,
              read: {
                resource,
                selection: wholeRow(resource),
                conditions: [...below(resource), ...conditions],
                words: [],
                sort: [{ attribute: sort, isDescending }],
                page,
              },
              filters: conditions.map(({ attribute }) => attribute),
              way: wayOf(conditions, sort),
              isMerged,
            };
          }),
        ),
      ),
    ),
  );
}

function below({ parent }: ResourceModel): Comparison[] {
  return parent ? [equalTo(parent)] : [];
}

/**
 * What the reference of declarations says: each filter has an index for the default sort, and several filters have one for
 * a sort where it is declared.
 */
function wayOf(conditions: readonly Comparison[], sort: Attribute): Way {
  const [{ attribute, operator } = { attribute: sort, operator: undefined }, ...more] = conditions;
  const isDeclared = more.length > 0;
  // The index of a sort by an ordered choice has its rank, and rows are found by the word.
  const isSorted = attribute === sort && !(operator === "in" && orderedChoices(sort.field));
  const hasIndex = isDeclared || isSorted || attribute.unique || sort.name === defaultSort;
  return hasIndex ? "along a range" : "along the sort";
}

/** No filter, each filter by equality and by null, a range of the sorted attribute, and the filters of declared indexes. */
function filtersOf({ filters, indexes, parent }: ResourceModel, sort: Attribute): Comparison[][] {
  // A computed status has no index.
  const indexed = [...filters.values()].filter(({ attribute }) => !attribute.statusRules);
  const equal = indexed.flatMap(({ attribute }) => [
    equalTo(attribute),
    ...(attribute.isNullable && !attribute.unique ? [{ ...equalTo(attribute), values: [null] }] : []),
  ]);
  const ranges = filters.get(sort.name)?.hasRange
    ? (["gte", "lt"] as const).map(
        (operator): Comparison => ({ attribute: sort, operator, values: [anyValue(sort)] }),
      )
    : [];
  const declared = indexes
    .filter(({ columns, unique }) => !unique && columns.at(-2)!.attribute === sort)
    .map(({ columns }) => columns.slice(0, -2).map(({ attribute }) => attribute))
    .map((attributes) => attributes.filter((attribute) => attribute !== parent))
    .filter((attributes) => attributes.length > 1)
    .map((attributes) => attributes.map((attribute) => equalTo(attribute)));
  return [[], ...[...equal, ...ranges].map((each) => [each]), ...declared];
}

function equalTo(attribute: Attribute): Comparison {
  return { attribute, operator: "in", values: [anyValue(attribute)] };
}

interface NamedPage {
  readonly name: string;
  readonly page: Read["page"];
  readonly isMerged: boolean;
}

function pagesOf(
  { paging }: ResourceModel,
  sort: Attribute,
  isDescending: boolean,
  conditions: readonly Comparison[],
): NamedPage[] {
  if (paging === "page") {
    return [1, 3].map((number) => ({
      name: `page ${number}`,
      page: { style: "page", limit: 20, number },
      isMerged: false,
    }));
  }
  const id = "row_00006000";
  const starts: (readonly [string, Position | undefined])[] = [
    ["from the start", undefined],
    ["from a value", { values: [anyValue(sort)], id }],
    // A list that is filtered by the sorted attribute contains no null.
    ...(sort.isNullable && conditions[0]?.attribute !== sort
      ? [["from null", { values: [null], id }] as const]
      : []),
  ];
  return starts.flatMap(([start, position]) =>
    [false, true].map((isBackward): NamedPage => {
      // Nulls are smallest: they follow a value in descending order, and values follow a null in ascending order.
      const isDownward = isDescending !== isBackward;
      const isMerged =
        sort.isNullable && position !== undefined && (position.values[0] === null) !== isDownward;
      return {
        name: `${isBackward ? "backward" : "forward"} ${start}`,
        page: { style: "cursor", limit: 20, position, isBackward },
        isMerged,
      };
    }),
  );
}

/** A value of the attribute's kind. */
export function anyValue({ field }: Attribute): Value {
  switch (field.kind) {
    case "integer":
    case "number":
      return 5;
    case "boolean":
      return true;
    case "timestamp":
      return "2026-01-01T00:00:00.000Z";
    case "decimal":
      return (5).toFixed(field.options.scale);
    case "date":
      return "2026-01-01";
    case "choice":
      return field.choices[0]!;
    default:
      return "value 5";
  }
}
