// Ends a process of tests that continues for too long, such as one whose server a failed hook has left open. A thread does
// it, as the main one may be in a loop.

import { Worker } from "node:worker_threads";

const maxMinutes = 10;

const message = `tests: still running after ${maxMinutes} minutes\n`;
const program = `
  setTimeout(() => {
    require("node:fs").writeSync(2, ${JSON.stringify(message)});
    process.kill(process.pid, "SIGKILL");
  }, ${maxMinutes * 60_000});
`;
// It does not keep the process running.
new Worker(program, { eval: true }).unref();
