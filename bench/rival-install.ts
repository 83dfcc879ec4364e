// Installs the packages that only the rivals need, unless they are installed already.

import { statSync } from "node:fs";
import { join } from "node:path";
import { runChild } from "./child.ts";

const folder = join(import.meta.dirname, "rivals");
const timeoutMs = 10 * 60_000;

/** @throws Error if npm fails, for example without a network */
export async function installRivals(report: (line: string) => void): Promise<void> {
  // npm writes the second file after it has installed the packages of the first.
  const [required, installed] = ["package-lock.json", "node_modules/.package-lock.json"].map(modifiedAt);
  if (installed! > required!) return;
  report("installing other servers into bench/rivals/node_modules, this once");
  try {
    await runChild("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error"], {
      timeoutMs,
    });
  } catch (error) {
    throw new Error(`${(error as Error).message}; --no-rivals measures without them`);
  }
}

/** 0 for a missing file. */
function modifiedAt(file: string): number {
  return statSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
