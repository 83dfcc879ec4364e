// The secret of a sandbox: generated at the first start, and stored next to the database in a file that only its owner can
// read.

import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { OperatorError } from "../errors.ts";
import { databaseFile } from "../store/open.ts";
import { createFolder } from "../store/sqlite/folder.ts";
import type { Settings } from "./settings/settings.ts";

/** The secrets from which all others are derived: PORTICO_SECRET, or the sandbox's own. */
export function secretsFor(settings: Settings): readonly string[] {
  return settings.secrets ?? [sandboxSecret(secretFile(settings.databaseUrl))];
}

/** The same, for commands that write nothing; undefined in a sandbox whose secret does not exist or cannot be read. */
export function existingSecrets(settings: Settings): readonly string[] | undefined {
  if (settings.secrets) return settings.secrets;
  try {
    return [readFileSync(secretFile(settings.databaseUrl), "utf8").trim()];
  } catch {
    return undefined;
  }
}

/** Next to a SQLite database; in `./data` for others. */
function secretFile(databaseUrl: string): string {
  const file = databaseFile(databaseUrl);
  return file === undefined ? resolve("data/portico.secret") : `${file}.secret`;
}

function sandboxSecret(file: string): string {
  try {
    createFolder(dirname(file));
    // If two processes start at the same time, one creates the file and both read it.
    writeFileSync(file, randomBytes(32).toString("base64url"), { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) {
      throw new OperatorError(`the secret ${file} cannot be written: ${(error as Error).message}`);
    }
  }
  chmodSync(file, 0o600);
  const secret = readFileSync(file, "utf8").trim();
  if (secret.length >= 32) return secret;
  throw new OperatorError(`the secret in ${file} is too short; remove the file to generate a new one`);
}
