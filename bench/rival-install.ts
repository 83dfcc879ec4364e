// Installs the packages of the rivals that have some of their own, where they are not there yet.

import { statSync } from "node:fs";
import { join } from "node:path";
import { runChild } from "./child.ts";

const folder = join(import.meta.dirname, "rivals");
const timeoutMs = 10 * 60_000;

/** @throws Error where npm fails, for want of a network for example */
export async function installRivals(tell: (line: string) => void): Promise<void> {
  // npm writes the second when it has installed what the first asks for.
  const [asked, installed] = ["package-lock.json", "node_modules/.package-lock.json"].map(changedAt);
  if (installed! > asked!) return;
  tell("installing other servers into bench/rivals/node_modules, this once");
  try {
    await runChild("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error"], {
      timeoutMs,
    });
  } catch (error) {
    throw new Error(`${(error as Error).message}; --no-rivals measures without them`);
  }
}

/** 0 for a file that is not there. */
function changedAt(file: string): number {
  return statSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
