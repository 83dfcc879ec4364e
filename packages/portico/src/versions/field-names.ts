// The names of fields in an older version, and those of the current one, for bodies, rows and errors.

import type { ResourceModel } from "../model/model.ts";

/** Prefix of a name that a version does not have. The name of a field cannot contain it. */
export const unknownMark = "/";

export interface FieldNames {
  /** The name in a body for the engine, by what a caller wrote. */
  readonly toCurrent: ReadonlyMap<string, string>;
  /** The name in a row of the version, by that in one of the current version; null for a field that it does not have. */
  readonly toOlder: ReadonlyMap<string, string | null>;
}

const same: FieldNames = { toCurrent: new Map(), toOlder: new Map() };
const namesByResource = new WeakMap<ResourceModel, FieldNames>();

/** The names that differ. @param resource of an older version, or of the current one, in which none does */
export function fieldNamesOf(resource: ResourceModel): FieldNames {
  if (!resource.current) return same;
  const known = namesByResource.get(resource);
  if (known) return known;
  const names = compare(resource, resource.current);
  namesByResource.set(resource, names);
  return names;
}

function compare(older: ResourceModel, current: ResourceModel): FieldNames {
  const fields = [...older.attributes, ...older.counts.values()];
  const olderNames = new Map(fields.map((each) => [each.current!.name, each.name]));
  const currentNames = [...current.attributes, ...current.counts.values()].map(({ name }) => name);
  const toOlder = currentNames
    .filter((name) => olderNames.get(name) !== name)
    .map((name) => [name, olderNames.get(name) ?? null] as const);
  const isOlderName = new Set(olderNames.values());
  return {
    toCurrent: new Map([
      ...currentNames
        .filter((name) => !isOlderName.has(name))
        .map((name) => [name, unknownMark + name] as const),
      ...fields
        .filter((each) => each.current!.name !== each.name)
        .map((each) => [each.name, each.current!.name] as const),
    ]),
    toOlder: new Map(toOlder),
  };
}
