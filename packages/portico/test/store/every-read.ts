// Every shape of page that the declarations of a model allow: each sort, direction, filter and kind of position.

import type { Attribute, Model, ResourceModel } from "../../src/model/model.ts";
import type { Condition, Position, Read, Value } from "../../src/query/read.ts";
import { wholeRow } from "../../src/query/selection.ts";

export interface NamedRead {
  /** `post: status=, -title, backward from a value` */
  readonly name: string;
  readonly read: Read;
  /** The filter, in addition to that of the parent. */
  readonly filter: Attribute | undefined;
  /** Whether nulls split the rest of the list into two ranges of the index. */
  readonly isMerged: boolean;
}

export function everyRead(model: Model): NamedRead[] {
  return model.resources.flatMap((resource) =>
    [...resource.sorts.values()].flatMap((sort) =>
      filtersOf(resource, sort).flatMap((filter) =>
        [false, true].flatMap((isDescending) =>
          pagesOf(resource, sort, isDescending, filter).map(({ name, page, isMerged }): NamedRead => {
            const filterName = filter ? `${filter.attribute.name} ${filter.operator}, ` : "";
            return {
              name: `${resource.name}: ${filterName}${isDescending ? "-" : ""}${sort.name}, ${name}`,
              read: {
                resource,
                selection: wholeRow(resource),
                conditions: [...below(resource), ...(filter ? [filter] : [])],
                words: [],
                sort: { attribute: sort, isDescending },
                page,
              },
              filter: filter?.attribute,
              isMerged,
            };
          }),
        ),
      ),
    ),
  );
}

function below({ parent }: ResourceModel): Condition[] {
  return parent ? [{ attribute: parent, operator: "in", values: [anyValue(parent)] }] : [];
}

/** No filter, each filter by equality, and a range of the sorted attribute. */
function filtersOf({ filters }: ResourceModel, sort: Attribute): (Condition | undefined)[] {
  // A computed status has no index.
  const indexed = [...filters.values()].filter(({ attribute }) => !attribute.statusRules);
  const equal = indexed.map(
    ({ attribute }): Condition => ({ attribute, operator: "in", values: [anyValue(attribute)] }),
  );
  const ranges = filters.get(sort.name)?.hasRange
    ? (["gte", "lt"] as const).map(
        (operator): Condition => ({ attribute: sort, operator, values: [anyValue(sort)] }),
      )
    : [];
  return [undefined, ...equal, ...ranges];
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
  filter: Condition | undefined,
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
    ["from a value", { value: anyValue(sort), id }],
    // A list that is filtered by the sorted attribute contains no null.
    ...(sort.isNullable && filter?.attribute !== sort ? [["from null", { value: null, id }] as const] : []),
  ];
  return starts.flatMap(([start, position]) =>
    [false, true].map((isBackward): NamedPage => {
      // Nulls are smallest: they follow a value in descending order, and values follow a null in ascending order.
      const isDownward = isDescending !== isBackward;
      const isMerged = sort.isNullable && position !== undefined && (position.value === null) !== isDownward;
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
    case "choice":
      return field.choices[0]!;
    default:
      return "value 5";
  }
}
