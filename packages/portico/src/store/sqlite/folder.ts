// Makes a folder and those above it. Not with `recursive`: where a folder cannot be made, as below /proc, Node
// then tries for ever.

import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/** @throws the error of the first folder that cannot be made */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(path)) throw error;
  }
}
