// Installs the packages of a project with npm.

import { spawn } from "node:child_process";
import { basename } from "node:path";
import { CreationError } from "./creation-error.ts";

/** Without warnings, such as the one about an older Node: the project brings Node 26. */
const words = ["install", "--no-audit", "--no-fund", "--loglevel=error"];

/** @throws CreationError if npm is missing or fails */
export async function installPackages(folder: string): Promise<void> {
  const failure = await run(folder);
  if (failure === undefined) return;
  throw new CreationError(
    `the project is in ${folder}, but its packages could not be installed (${failure}); run npm install there`,
  );
}

/** @returns what failed; undefined if nothing did */
function run(folder: string): Promise<string | undefined> {
  // The program of the npm that runs this command; on Windows, npm itself is a script that only a shell can start.
  const program = process.env.npm_execpath;
  const [file, options] =
    program !== undefined && basename(program) === "npm-cli.js"
      ? [process.execPath, [program, ...words]]
      : ["npm", words];
  const isShell = file === "npm" && process.platform === "win32";
  const child = spawn(file, options, { cwd: folder, stdio: "inherit", shell: isShell });
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code) => resolve(code === 0 ? undefined : "npm failed"));
  });
}
