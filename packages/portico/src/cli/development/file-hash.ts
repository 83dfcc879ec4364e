// The contents of a file as a short text, to notice changes.

import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";

export function hashOf(contents: string | NodeJS.ArrayBufferView): string {
  return hash("sha256", contents, "base64");
}

/** Undefined for a file that cannot be read. Of a folder, only its existence counts. */
export function hashOfFile(path: string): string | undefined {
  try {
    return hashOf(readFileSync(path));
  } catch {
    return existsSync(path) ? "exists" : undefined;
  }
}
