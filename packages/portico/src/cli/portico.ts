// The command line: runs a command and prints its output. An error is one line on standard error and exit code 1.

import { operatorMessage, run } from "./run.ts";

try {
  const output = await run(process.argv.slice(2), { folder: process.cwd(), environment: process.env });
  if (output !== undefined) process.stdout.write(`${output}\n`);
} catch (error) {
  process.stderr.write(`portico: ${operatorMessage(error)}\n`);
  // process.exitCode is not enough: a database driver that is still connecting would keep the process alive.
  process.exit(1);
}
