// Starts the bare server of limit-server.ts and tells it what to answer.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { startChild, stopChild } from "./child.ts";

/** An answer of Portico's that the limit repeats. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const program = join(import.meta.dirname, "limit-server.ts");
const patienceMs = 10_000;

export class LimitServer {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
  }

  static async start(): Promise<LimitServer> {
    const child = startChild(process.execPath, [program], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    return new LimitServer(`http://127.0.0.1:${await messageOf(child)}`, child);
  }

  /** From here on every request is answered with this. */
  async answerWith(answer: Answer): Promise<void> {
    this.#child.send(answer);
    await messageOf(this.#child);
  }

  async stop(): Promise<void> {
    await stopChild(this.#child);
  }
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const ended = AbortSignal.timeout(patienceMs);
  const [message] = await once(child, "message", { signal: ended });
  return message;
}
