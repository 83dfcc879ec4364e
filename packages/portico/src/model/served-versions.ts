// The versions of an API in which modules serve their operations.

import type { Deprecation } from "../declare/field-options.ts";
import type { Model, ResourceModel } from "./model.ts";
import type { ModuleOperation, Versions } from "./operations.ts";

/** The version of the operations that are the server's own. It is always served. */
const ownVersion = "v1";

export interface ServedVersion extends Pick<Model, "resource"> {
  /** What its paths begin with: `/v1` */
  readonly prefix: string;
  /** What the configuration of its routes contains. */
  readonly config: { readonly deprecated?: Deprecation };
}

/** The versions in which operations of modules are served, the current one first. */
export function servedVersions({ version, resource, olderVersions }: Model): readonly ServedVersion[] {
  const older = olderVersions.map(({ name }) => name);
  const current = [...prefixesOfModules({ current: version, older })].reverse();
  return [
    ...current.map((prefix) => ({ prefix, config: {}, resource: currentResources(resource, older) })),
    ...olderVersions.map(({ name, deprecated, ...names }) => ({
      prefix: `/${name}`,
      config: deprecated ? { deprecated } : {},
      resource: names.resource,
    })),
  ];
}

/**
 * The resources by their names, for what modules offer in the current version. Those that only an older version has are not
 * exposed.
 */
export function currentResources(resource: Model["resource"], older: readonly string[]): Model["resource"] {
  const shown = (each: ResourceModel): ResourceModel =>
    older.includes(each.version) ? Object.freeze({ ...each, isExposed: false }) : each;
  return new Map([...resource].map(([name, each]) => [name, shown(each)]));
}

/** What comes before the paths of operations of modules, besides listed older versions. The current version is last. */
export function prefixesOfModules(versions: Pick<Versions, "current" | "older">): readonly string[] {
  return [...ownPrefixes(versions), `/${versions.current}`];
}

/** What comes before the paths of the server's own operations, besides the current version and the listed older ones. */
export function ownPrefixes({ current, older }: Pick<Versions, "current" | "older">): readonly string[] {
  return [current, ...older].includes(ownVersion) ? [] : [`/${ownVersion}`];
}

/** Whether an operation of a module is in every version. Others, such as health checks, are in none. */
export function isVersioned({ prefixes }: Pick<ModuleOperation, "prefixes">): boolean {
  return prefixes.includes(`/${ownVersion}`);
}
