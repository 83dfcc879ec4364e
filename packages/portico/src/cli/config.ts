// Loads what a project serves: the default export of its `portico.config.ts`.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { App } from "../declare/app.ts";
import { OperatorError } from "../errors.ts";

const configFile = "portico.config.ts";

export async function loadApp(folder: string = process.cwd()): Promise<App> {
  const file = resolve(folder, configFile);
  if (!existsSync(file)) {
    throw new OperatorError(
      `there is no ${configFile} in ${folder}; make one: export default app({ name, resources })`,
    );
  }
  const { default: app } = await load(file);
  if (isApp(app)) return app;
  throw new OperatorError(
    `the default export of ${configFile} is no app; write: export default app({ name, resources })`,
  );
}

/** What stops the file from being loaded is told in one line, with the place where it happened. */
async function load(file: string): Promise<{ default?: unknown }> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    if (error instanceof OperatorError || !(error instanceof Error)) throw error;
    const [message = ""] = error.message.split("\n");
    const place = /file:\/\/\S+?:\d+:\d+/.exec(error.stack ?? "")?.[0];
    throw new OperatorError(`${configFile} cannot be loaded: ${message}${place ? ` (${place})` : ""}`);
  }
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
