// Settings of a project in the file `.env`.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadEnvFile } from "node:process";
import { OperatorError } from "../errors.ts";

export const environmentFile = ".env";

/** Sets the variables of the file, if there is one, except those that the environment has already. */
export function loadEnvironmentFile(folder: string): void {
  const file = join(folder, environmentFile);
  if (!existsSync(file)) return;
  try {
    loadEnvFile(file);
  } catch (error) {
    throw new OperatorError(`${file} cannot be read: ${(error as Error).message}`);
  }
}
