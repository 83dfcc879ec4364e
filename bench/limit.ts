// Starts the bare server of limit-server.ts and tells it what to answer.

import { join } from "node:path";
import { type ChildServer, messageOf, startServer, stopChild } from "./child.ts";

/** An answer of Portico's that the limit repeats. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const program = join(import.meta.dirname, "limit-server.ts");

export class LimitServer {
  readonly #server: ChildServer;

  private constructor(server: ChildServer) {
    this.#server = server;
  }

  static async start(): Promise<LimitServer> {
    return new LimitServer(await startServer(program));
  }

  get url(): string {
    return this.#server.url;
  }

  /** From here on every request is answered with this. */
  async answerWith(answer: Answer): Promise<void> {
    this.#server.child.send(answer);
    await messageOf(this.#server.child);
  }

  async stop(): Promise<void> {
    await stopChild(this.#server.child);
  }
}
