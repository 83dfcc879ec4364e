// Deprecations that concern one operation: its own, those of its resource and of its version of the API, and those of
// fields that requests can name.

import type { Deprecation } from "../declare/field-options.ts";
import type { ResourceModel } from "./model.ts";

/**
 * One deprecation for all: the earliest dates, and the first link.
 * @param deprecations the most specific first
 */
export function earliestDeprecation(
  deprecations: readonly (Deprecation | undefined)[],
): Deprecation | undefined {
  const known = deprecations.filter((each) => each !== undefined);
  if (known.length < 2) return known[0];
  const since = earliest(known.map((each) => each.since))!;
  const sunset = earliest(known.flatMap((each) => each.sunset ?? []));
  const link = known.find((each) => each.link !== undefined)?.link;
  return Object.freeze({
    since,
    ...(sunset !== undefined && { sunset }),
    ...(link !== undefined && { link }),
  });
}

function earliest(dates: readonly string[]): string | undefined {
  return dates.toSorted((a, b) => Date.parse(a) - Date.parse(b))[0];
}

/** Whether requests to a resource can name a deprecated field: its own, or one of rows that it refers to, at any distance. */
export function hasDeprecatedFields(resource: ResourceModel): boolean {
  const reached = new Set([resource]);
  // The iteration continues with what is added to the set.
  for (const { attributes, counts } of reached) {
    if ([...attributes, ...counts.values()].some(({ deprecated }) => deprecated)) return true;
    for (const { reference, links } of attributes) {
      const target = (reference ?? links)?.target;
      if (target) reached.add(target);
    }
  }
  return false;
}
