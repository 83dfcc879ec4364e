// The command line: runs a command and prints its output. An error is one line on standard error and exit code 1.

import { loadEnvironmentFile } from "./environment-file.ts";
import { operatorMessage } from "./operator-message.ts";
import { run } from "./run.ts";

try {
  const folder = process.cwd();
  const words = process.argv.slice(2);
  // The processes of `dev` read the file themselves, again after each change.
  if (words[0] !== "dev") loadEnvironmentFile(folder);
  const output = await run(words, { folder, environment: process.env });
  if (output !== undefined) {
    // It is not an error if the reader stops early, as `head` does.
    process.stdout.once("error", () => {});
    process.stdout.write(`${output}\n`);
  }
} catch (error) {
  process.stderr.write(`portico: ${operatorMessage(error)}\n`);
  // process.exitCode is not enough: a database driver that is still connecting would keep the process alive.
  process.exit(1);
}
