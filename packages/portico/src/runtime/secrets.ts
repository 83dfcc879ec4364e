// The secret of a sandbox: made at the first start and kept beside the database, for its owner's eyes only.

import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { OperatorError } from "../errors.ts";
import { databaseFile } from "../store/open.ts";
import { createFolder } from "../store/sqlite/folder.ts";
import type { Settings } from "./settings/settings.ts";

/** The secrets to derive others from: those of the settings, or the sandbox's own. */
export function secretsFor(settings: Settings): readonly string[] {
  return settings.secrets ?? [sandboxSecret(secretFile(settings.databaseUrl))];
}

/** Beside an embedded database, or in `./data` where the database is elsewhere. */
function secretFile(databaseUrl: string): string {
  const file = databaseFile(databaseUrl);
  return file === undefined ? resolve("data/portico.secret") : `${file}.secret`;
}

function sandboxSecret(file: string): string {
  try {
    createFolder(dirname(file));
    // Of two processes that start at once, one makes the file and both read it.
    writeFileSync(file, randomBytes(32).toString("base64url"), { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) {
      throw new OperatorError(`the secret ${file} cannot be written: ${(error as Error).message}`);
    }
  }
  chmodSync(file, 0o600);
  const secret = readFileSync(file, "utf8").trim();
  if (secret.length >= 32) return secret;
  throw new OperatorError(`the secret in ${file} is too short; remove the file to have a new one made`);
}
