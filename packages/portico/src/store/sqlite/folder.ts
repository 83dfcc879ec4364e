// Creates a folder and its parents. The option `recursive` of `mkdir` is not used: Node loops forever where a folder cannot
// be created, as in /proc.

import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/** @param mode of the last folder, if it is created @throws the error of the first folder that cannot be created */
export function createFolder(path: string, mode?: number): void {
  if (existsSync(path)) return;
  createFolder(dirname(path));
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!existsSync(path)) throw error;
  }
}
