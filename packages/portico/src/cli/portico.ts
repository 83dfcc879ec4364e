// The command line: prints what a command did. An error is one line and exit 1.

import { messageOf, run } from "./run.ts";

try {
  const output = await run(process.argv.slice(2), { folder: process.cwd(), environment: process.env });
  if (output !== undefined) process.stdout.write(`${output}\n`);
} catch (error) {
  process.stderr.write(`portico: ${messageOf(error)}\n`);
  // Not the exit code only: a driver that still tries to connect would keep the process alive.
  process.exit(1);
}
