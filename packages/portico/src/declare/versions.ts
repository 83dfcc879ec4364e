// Older versions of the API, which are served beside the current one.

import { OperatorError } from "../errors.ts";
import type { Deprecation } from "./field-options.ts";

/** The options of an older version. */
export interface AppVersion {
  /** Deprecates the version: all its responses have the header `Deprecation`. */
  readonly deprecated?: Deprecation;
}

/** Older versions by their names: `{ v1: { deprecated: { since: "2027-01-01", sunset: "2028-01-01" } } }` */
export type AppVersions = Readonly<Record<string, AppVersion>>;

/**
 * How older versions differ from the declaration, by the names of the versions. `false`: the version does not have the
 * resource. Otherwise the names that its fields have there, each with the name of the field; `false` for a field that the
 * version does not have. `{ v1: { title: "headline", subtitle: false } }`
 */
export type ResourceVersions<Field extends string = string> = Readonly<
  Record<string, false | Readonly<Record<string, Field | false>>>
>;

export const versionPattern = /^v\d{1,4}$/;

/**
 * Checks what the versions of an app show without its resources. The dates of deprecations are checked with those of fields.
 * @throws OperatorError
 */
export function validateAppVersions(version: string, versions: AppVersions): void {
  const refuse = (remedy: string): never => {
    throw new OperatorError(`app, versions: ${remedy}`);
  };
  if (typeof versions !== "object" || versions === null || Array.isArray(versions))
    refuse("write the older versions by their names: versions: { v1: {} }");
  const names = Object.keys(versions);
  if (names.length > 0 && !versionPattern.test(version))
    refuse(`the current version is ${version}; write version as v1, v2 and so on`);
  for (const [name, described] of Object.entries(versions)) {
    if (!versionPattern.test(name)) refuse(`${name} is not a version; write v1, v2 and so on`);
    if (name === version)
      refuse(`${name} is the current version; list older ones, or set version to a newer one`);
    if (typeof described !== "object" || described === null)
      refuse(`write ${name} as an object: ${name}: {}, or ${name}: { deprecated: { since: "2027-01-01" } }`);
    const unknown = Object.keys(described).find((option) => option !== "deprecated");
    if (unknown !== undefined) refuse(`${name} has the unknown option ${unknown}; use deprecated`);
  }
}
