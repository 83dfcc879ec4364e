// Starts the server of rival-server.ts, and makes sure that it answers what Portico answers.

import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { startChild, stopChild } from "./child.ts";
import type { Load } from "./load.ts";

const program = join(import.meta.dirname, "rival-server.ts");
const patienceMs = 10_000;

export class RivalServer {
  static readonly title = "graphql-yoga + DataLoader";
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
  }

  /** @param databaseUrl of SQLite; on another database there is no rival */
  static async start(databaseUrl: string): Promise<RivalServer | undefined> {
    const file = /^file:(.*)$/.exec(databaseUrl)?.[1];
    if (file === undefined) return undefined;
    const child = startChild(process.execPath, [program, file], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env: { ...process.env, NODE_ENV: "production" },
    });
    const [port] = await once(child, "message", { signal: AbortSignal.timeout(patienceMs) });
    return new RivalServer(`http://127.0.0.1:${port}`, child);
  }

  /** @throws Error where the answers differ by more than spaces */
  async requireSame({ method, paths, headers, body }: Load, expected: string): Promise<void> {
    const answer = await fetch(this.url + paths[0], { method, headers, body });
    assert.deepEqual(await answer.json(), JSON.parse(expected), "the rival answers otherwise");
  }

  async stop(): Promise<void> {
    await stopChild(this.#child);
  }
}
