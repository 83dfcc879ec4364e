// Headers that announce the end of a resource or field: `Deprecation` (RFC 9745) and `Sunset` (RFC 8594).

import type { Deprecation } from "../declare/field.ts";
import type { ResourceModel } from "../declare/model.ts";

type DeprecationHeaders = Readonly<Partial<Record<"Deprecation" | "Sunset", string>>>;

const none: DeprecationHeaders = Object.freeze({});

/**
 * The headers for a request of a resource that names these fields; the earliest dates count.
 * @param named names of fields in the body, filters, sort or selection
 */
export function deprecationHeaders(resource: ResourceModel, named: Iterable<string>): DeprecationHeaders {
  const found: Deprecation[] = resource.deprecated ? [resource.deprecated] : [];
  for (const name of named) {
    const deprecated = resource.attribute.get(name)?.deprecated;
    if (deprecated) found.push(deprecated);
  }
  if (found.length === 0) return none;
  const since = Math.min(...found.map((each) => Date.parse(each.since)));
  const sunsets = found.flatMap((each) => (each.sunset === undefined ? [] : [Date.parse(each.sunset)]));
  return {
    Deprecation: `@${Math.floor(since / 1000)}`,
    ...(sunsets.length > 0 && { Sunset: new Date(Math.min(...sunsets)).toUTCString() }),
  };
}

/** Names of fields that a query speaks of. */
export function namesInQuery(query: ReadonlyMap<string, readonly string[]>): string[] {
  return [...query].flatMap(([name, values]) => [
    name.replace(/\[\w+\]$/, ""),
    ...(name === "sort" ? values.map((value) => value.replace(/^-/, "")) : []),
    ...(name === "fields" ? values.flatMap((value) => value.split(",")) : []),
  ]);
}
