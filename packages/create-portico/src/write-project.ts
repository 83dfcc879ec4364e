// Writes the files of a project into a new or empty folder: all of them, or none.

import { existsSync, mkdirSync, readdirSync, rmdirSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { CreationError } from "./creation-error.ts";
import type { ProjectFiles } from "./templates.ts";

/** Names that a folder may contain: `git init` may have been run in it. */
const allowedNames = [".git"];
const maxNamesShown = 5;

/** @throws CreationError if the folder exists and is not empty, or is a file */
export function requireFreeFolder(folder: string): void {
  if (!existsSync(folder)) return;
  const names = readFolder(folder).filter((name) => !allowedNames.includes(name));
  if (names.length === 0) return;
  const shown = names.sort().slice(0, maxNamesShown).join(", ");
  const more = names.length > maxNamesShown ? ` and ${names.length - maxNamesShown} more` : "";
  throw new CreationError(`${folder} is not empty: it contains ${shown}${more}; choose another folder`);
}

function readFolder(folder: string): string[] {
  try {
    if (statSync(folder).isDirectory()) return readdirSync(folder);
  } catch (error) {
    throw new CreationError(`${folder} cannot be read: ${(error as Error).message}`);
  }
  throw new CreationError(`${folder} is a file; choose another folder`);
}

/** @throws CreationError if a file cannot be written; files written before it are removed */
export function writeProject(folder: string, files: ProjectFiles): void {
  requireFreeFolder(folder);
  const written: Written = { folders: [], files: [] };
  try {
    for (const [name, text] of Object.entries(files)) writeNewFile(join(folder, name), text, written);
  } catch (error) {
    const left = remove(written);
    const consequence =
      left.length === 0
        ? "nothing was created"
        : `these were left behind: ${left.map((path) => relative(folder, path) || folder).join(", ")}`;
    throw new CreationError(`the project cannot be written: ${(error as Error).message}; ${consequence}`);
  }
}

/** What was created, in this order. */
interface Written {
  readonly folders: string[];
  readonly files: string[];
}

function writeNewFile(path: string, text: string, written: Written): void {
  createFolder(dirname(path), written);
  // A file that appeared meanwhile is not overwritten.
  writeFileSync(path, "", { flag: "wx" });
  written.files.push(path);
  writeFileSync(path, text);
}

function createFolder(folder: string, written: Written): void {
  if (existsSync(folder)) return;
  createFolder(dirname(folder), written);
  mkdirSync(folder);
  written.folders.push(folder);
}

/** @returns what could not be removed */
function remove({ files, folders }: Written): string[] {
  const failed: string[] = [];
  const attempt = (path: string, removal: (path: string) => void): void => {
    try {
      removal(path);
    } catch {
      failed.push(path);
    }
  };
  for (const path of files.toReversed()) attempt(path, unlinkSync);
  for (const path of folders.toReversed()) attempt(path, rmdirSync);
  return failed;
}
