// What a test needs of the machine beside Node.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The path of the first of these programs that PATH has. */
export function findProgram(...names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

/**
 * Why a test that needs a program is skipped: `test("in Python", { skip: whyMissing("python3") }, ...)`.
 *
 * @returns false if the machine has it
 * @throws Error if the machine of CI lacks it, which is a failure
 */
export function whyMissing(program: string): string | false {
  return findProgram(program) === undefined && skipped(`no ${program} on this machine: install it`);
}

/** @returns the reason, with which tests are skipped @throws Error in CI, where a skipped test is a failure */
export function skipped(reason: string): string {
  if (process.env.CI) throw new Error(reason);
  return reason;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
