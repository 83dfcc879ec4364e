// Headers that announce the end of a resource or field: `Deprecation` (RFC 9745) and `Sunset` (RFC 8594).

import type { Deprecation } from "../declare/field-options.ts";
import type { ResourceModel } from "../model/model.ts";

type DeprecationHeaders = Readonly<Partial<Record<"Deprecation" | "Sunset", string>>>;

const none: DeprecationHeaders = Object.freeze({});

/**
 * The headers of a response for a request that names these fields. They have the earliest dates.
 * @param named names of fields in the body, filters, sort or selection
 */
export function deprecationHeaders(resource: ResourceModel, named: Iterable<string>): DeprecationHeaders {
  const deprecations: Deprecation[] = resource.deprecated ? [resource.deprecated] : [];
  for (const name of named) deprecations.push(...deprecationsOnPath(resource, name.split(".")));
  if (deprecations.length === 0) return none;
  const since = Math.min(...deprecations.map((each) => Date.parse(each.since)));
  const sunsets = deprecations.flatMap((each) =>
    each.sunset === undefined ? [] : [Date.parse(each.sunset)],
  );
  return {
    Deprecation: `@${Math.floor(since / 1000)}`,
    ...(sunsets.length > 0 && { Sunset: new Date(Math.min(...sunsets)).toUTCString() }),
  };
}

/** The deprecations on the path `author.name`: those of the reference and of the field. */
function deprecationsOnPath(resource: ResourceModel, [name = "", ...rest]: readonly string[]): Deprecation[] {
  const attribute =
    rest.length === 0
      ? resource.attribute.get(name)
      : resource.references.find(({ reference }) => reference!.name === name);
  if (!attribute) return [];
  const own = attribute.deprecated ? [attribute.deprecated] : [];
  return rest.length === 0 ? own : [...own, ...deprecationsOnPath(attribute.reference!.target, rest)];
}

/** The names of fields in a query. */
export function namesInQuery(query: ReadonlyMap<string, readonly string[]>): string[] {
  return [...query].flatMap(([name, values]) => [
    name.replace(/\[\w+\]$/, ""),
    ...(name === "sort"
      ? values.flatMap((value) => value.split(",").map((each) => each.replace(/^-/, "")))
      : []),
    ...(name === "fields" ? values.flatMap((value) => value.split(",").map((each) => each.trim())) : []),
  ]);
}
