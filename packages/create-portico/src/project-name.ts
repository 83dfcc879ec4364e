// The folder of a project, and its name, which is that of its package, its container image and its system service.

import { basename, resolve } from "node:path";
import { CreationError } from "./creation-error.ts";

/** What npm accepts as the name of a new package, without a scope. */
const validName = /^[a-z0-9][a-z0-9._-]*$/;
const reservedNames = ["node_modules", "favicon.ico", "portico"];
const maxNameLength = 100;

export interface ProjectName {
  /** An absolute path. */
  readonly folder: string;
  /** `my-api` */
  readonly name: string;
}

/**
 * @param folder a path, relative to `from`; its last part becomes the name
 * @throws CreationError if the name cannot be that of a package
 * @example
 * projectName("apps/my-api", "/home/ada"); // { folder: "/home/ada/apps/my-api", name: "my-api" }
 */
export function projectName(folder: string, from: string): ProjectName {
  if (folder.trim() === "") throw new CreationError("name the folder: create-portico my-api");
  if (/\p{Cc}/u.test(folder)) throw new CreationError("the name of the folder contains a control character");
  const path = resolve(from, folder);
  const name = basename(path);
  if (validName.test(name) && name.length <= maxNameLength && !reservedNames.includes(name))
    return { folder: path, name };
  const suggestion = suggestedName(name);
  throw new CreationError(
    `${JSON.stringify(name)} cannot be the name of a package; use at most ${maxNameLength} lower-case letters, digits and hyphens${suggestion && `, such as ${suggestion}`}`,
  );
}

/** `"My API!"` -> `"my-api"`; empty if nothing of the name can be kept. */
function suggestedName(name: string): string {
  const suggestion = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, maxNameLength)
    .replace(/^-+|-+$/g, "");
  return reservedNames.includes(suggestion) ? `my-${suggestion}` : suggestion;
}
