// The package.json of a project, as `portico upgrade` reads it.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../errors.ts";
import { isVersion } from "./version-steps.ts";

export interface PackageFile {
  readonly isModule: boolean;
  readonly scripts: Readonly<Record<string, unknown>>;
  /** The version whose steps are done: `portico.upgradedTo`. */
  readonly upgradedTo: string | undefined;
}

/** @returns undefined if there is none @throws OperatorError for one that cannot be read */
export function readPackageFile(folder: string): PackageFile | undefined {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  const { type, scripts, portico } = membersOf(parse(file));
  const { upgradedTo } = membersOf(portico);
  if (upgradedTo !== undefined && !(typeof upgradedTo === "string" && isVersion(upgradedTo)))
    throw new OperatorError("portico.upgradedTo in package.json must be a version, such as 0.1.0");
  return { isModule: type === "module", scripts: membersOf(scripts), upgradedTo };
}

function parse(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new OperatorError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  // Every object has members of unknown types.
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
