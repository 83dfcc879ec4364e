// Ends a process of tests that goes on for too long, such as one whose server a failed hook has left open.

const maxMinutes = 10;

// Does not keep the process running.
setTimeout(() => {
  const resources = process.getActiveResourcesInfo().join(", ");
  process.stderr.write(`tests: still running after ${maxMinutes} minutes, because of: ${resources}\n`);
  process.exit(1);
}, maxMinutes * 60_000).unref();
