// Starts the bare server of limit-server.ts and sets its response.

import { join } from "node:path";
import { type ChildServer, nextMessage, startServer, stopChild } from "./child.ts";

/** A response of Portico that the limit repeats. */
export interface RecordedResponse {
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

  /** Sets the response to all further requests. */
  async respondWith(response: RecordedResponse): Promise<void> {
    this.#server.child.send(response);
    await nextMessage(this.#server.child);
  }

  async stop(): Promise<void> {
    await stopChild(this.#server.child);
  }
}
