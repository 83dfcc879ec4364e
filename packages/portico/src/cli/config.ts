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
  const { default: app } = (await import(pathToFileURL(file).href)) as { default?: unknown };
  if (isApp(app)) return app;
  throw new OperatorError(
    `the default export of ${configFile} is no app; write: export default app({ name, resources })`,
  );
}

function isApp(value: unknown): value is App {
  return (
    typeof value === "object" && value !== null && "resources" in value && Array.isArray(value.resources)
  );
}
