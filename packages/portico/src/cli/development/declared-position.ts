// Where a declaration that an error names stands in the source.

import { readFileSync } from "node:fs";
import { relative } from "node:path";

/** The message, and the position of the resource, its part or the route that it names: `(service/posts.ts:5:5)`. */
export function withPosition(message: string, files: readonly string[], folder: string): string {
  const position = positionOf(message, files, folder);
  if (position === undefined) return message;
  const [line = "", ...rest] = message.split("\n");
  return [`${line} (${position})`, ...rest].join("\n");
}

function positionOf(message: string, files: readonly string[], folder: string): string | undefined {
  const { resource, part } =
    /\bresource (?<resource>\w+)(?:, (?:field )?(?<part>\w+))?/.exec(message)?.groups ?? {};
  const { route } = /\broute (?<route>[A-Z]+ \/[^\s:]*)/.exec(message)?.groups ?? {};
  if (resource === undefined && route === undefined) return undefined;
  const declaration =
    resource === undefined
      ? new RegExp(`["'\`]${RegExp.escape(route!)}["'\`]`)
      : new RegExp(`\\bresource\\(\\s*["'\`]${resource}["'\`]`);
  for (const file of files) {
    const source = read(file);
    const start = source.search(declaration);
    if (start < 0) continue;
    const inside =
      part === undefined ? -1 : source.slice(start).search(new RegExp(`\\b${part}\\b["']?\\s*[:,(]`));
    const before = source.slice(0, start + Math.max(inside, 0)).split("\n");
    return `${relative(folder, file)}:${before.length}:${before.at(-1)!.length + 1}`;
  }
  return undefined;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
