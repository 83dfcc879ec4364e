// Loads the app of a project: the default export of its `portico.config.ts`.

import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { App } from "../declare/app.ts";
import { renameHint } from "../declare/renamed-options.ts";
import { OperatorError } from "../errors.ts";
import type { Environment } from "./settings/settings.ts";

export const configFile = "portico.config.ts";

/** The folder of `portico.config.ts`, and the environment from which settings are read. */
export interface Project {
  readonly folder: string;
  readonly environment: Environment;
}

export async function loadApp(folder: string): Promise<App> {
  const file = resolve(folder, configFile);
  if (!existsSync(file)) {
    throw new OperatorError(
      `there is no ${configFile} in ${folder}; make one: export default app({ name, resources })`,
    );
  }
  const { default: app } = await load(file);
  if (isApp(app)) return app;
  throw new OperatorError(
    `the default export of ${configFile} is not an app; write: export default app({ name, resources })`,
  );
}

/** @throws OperatorError with one line that names the error and its position, if the file cannot be loaded */
async function load(file: string): Promise<{ default?: unknown }> {
  const folder = dirname(file);
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    if (error instanceof OperatorError || !(error instanceof Error)) throw error;
    const [line = ""] = error.message.split("\n");
    const missing = /does not provide an export named '(\w+)'/.exec(line)?.[1];
    const message = renameHint("export", missing ?? "") ?? line;
    const location = importLocation(line) ?? locationOf(error.stack ?? "");
    throw new OperatorError(
      `${configFile} cannot be loaded: ${message}${location ? ` (${relative(folder, location)})` : ""}`,
    );
  }
}

/**
 * The position at which loading failed, as `/path/file.ts:line:column`. The stack of a syntax error or an unknown import
 * begins with `/path/file.ts:2` or its URL, followed by the source line and, unless it is the end of the file, a caret
 * under the column. Other errors have it in the first frame outside of Portico.
 */
function locationOf(stack: string): string | undefined {
  const header = /^(?<file>(?:file:\/)?\/.+):(?<line>\d+)\n(?:[\s\S]*?\n(?<indent> *)\^)?/.exec(
    stack,
  )?.groups;
  if (header) {
    const column = header.indent === undefined ? "" : `:${header.indent.length + 1}`;
    return `${pathOf(header.file!)}:${header.line}${column}`;
  }
  const own = new URL("..", import.meta.url).href;
  for (const [, url, position] of stack.matchAll(/(file:\/\/\S+?)(:\d+:\d+)/g))
    if (!url!.startsWith(own)) return fileURLToPath(url!) + position;
  return undefined;
}

/**
 * The position of the import of a file or package that does not exist, as `/path/file.ts:line:column`; undefined if the
 * error is another one, or if the text does not contain the import as a literal.
 */
function importLocation(message: string): string | undefined {
  const { missing, importer } =
    /^Cannot find (?:module|package) '(?<missing>.+)' imported from (?<importer>\/.+)$/.exec(message)
      ?.groups ?? {};
  if (missing === undefined || importer === undefined || !existsSync(importer)) return undefined;
  for (const [index, line] of readFileSync(importer, "utf8").split("\n").entries())
    for (const { 1: specifier, index: column } of line.matchAll(
      /\b(?:from|import)\b[\s(]*["']([^"']+)["']/g,
    )) {
      const isMissing = specifier!.startsWith(".")
        ? resolve(dirname(importer), specifier!) === missing
        : specifier === missing || specifier!.startsWith(`${missing}/`);
      if (isMissing) return `${importer}:${index + 1}:${column + 1}`;
    }
  return undefined;
}

function pathOf(file: string): string {
  return file.startsWith("file:") ? fileURLToPath(file) : file;
}

function isApp(value: unknown): value is App {
  return (
    typeof value === "object" &&
    value !== null &&
    "resources" in value &&
    Array.isArray(value.resources) &&
    value.resources.every((each) => typeof each === "object" && each !== null && "declaration" in each)
  );
}
