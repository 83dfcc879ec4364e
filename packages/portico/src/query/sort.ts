// Sorts of a resource, by their names in a request: `-priority,createdAt`.

import { type Attribute, defaultSort, type ResourceModel } from "../model/model.ts";
import type { Sort, SortKey } from "./read.ts";

const sortsByText = new WeakMap<ResourceModel, ReadonlyMap<string, Sort>>();

/** A sort by one declared field, `title` or `-title`; undefined for another field. */
export function singleSort(resource: ResourceModel, text: string): Sort | undefined {
  let sorts = sortsByText.get(resource);
  if (!sorts) {
    sorts = new Map(
      [...resource.sorts].flatMap(([name, attribute]) =>
        [false, true].map((isDescending) => {
          const sort: Sort = Object.freeze([Object.freeze({ attribute, isDescending })]);
          return [`${isDescending ? "-" : ""}${name}`, sort] as const;
        }),
      ),
    );
    sortsByText.set(resource, sorts);
  }
  return sorts.get(text);
}

/** The default sort. */
export function newestFirst(resource: ResourceModel): Sort {
  return singleSort(resource, `-${defaultSort}`)!;
}

/** A sort by several keys. Keys after the id change nothing, and neither does an id that would follow anyway. */
export function combinedSort([first, ...others]: Sort): Sort {
  const keys: [SortKey, ...SortKey[]] = [first];
  for (const key of others) {
    const last = keys.at(-1)!;
    if (last.attribute.name === "id") break;
    if (key.attribute.name !== "id" || key.isDescending !== last.isDescending) keys.push(key);
    if (key.attribute.name === "id") break;
  }
  return keys;
}

/** The field that occurs twice among the keys. */
export function repeatedField(keys: readonly SortKey[]): Attribute | undefined {
  const attributes = keys.map(({ attribute }) => attribute);
  return attributes.find((attribute, index) => attributes.indexOf(attribute) < index);
}

/** `-priority,createdAt` */
export function sortText(sort: Sort): string {
  return sort.length === 1 ? keyText(sort[0]) : sort.map(keyText).join();
}

export function keyText({ attribute, isDescending }: SortKey): string {
  return `${isDescending ? "-" : ""}${attribute.name}`;
}
