// Every shape of page that the declarations of a model allow: each sort and direction, each filter, each kind of place.

import type { Attribute, Model, ResourceModel } from "../../src/model/model.ts";
import type { Condition, Position, Read, Value } from "../../src/query/read.ts";
import { wholeRow } from "../../src/query/selection.ts";

export interface NamedRead {
  /** `post: status=, -title, backward from a value` */
  readonly name: string;
  readonly read: Read;
  /** The filter beside the parent's, if there is one. */
  readonly filter: Attribute | undefined;
  /** Whether nulls make the rest of the list two ranges of the index. */
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

/** No filter, each filter by equality, and a range of what the list is sorted by. */
function filtersOf({ filters }: ResourceModel, sort: Attribute): (Condition | undefined)[] {
  // A state is worked out from row to row: no index has it.
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
    // A list filtered by what it is sorted by holds no null.
    ...(sort.isNullable && filter?.attribute !== sort ? [["from null", { value: null, id }] as const] : []),
  ];
  return starts.flatMap(([start, position]) =>
    [false, true].map((isBackward): NamedPage => {
      // Nulls are smallest, so beyond a value they still come downwards, and beyond a null the values come upwards.
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

/** Any value of a kind. */
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
