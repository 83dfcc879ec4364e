// A client of the protocol graphql-transport-ws, message by message.

import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClientOptions, WebSocket } from "ws";
import type { Portico } from "../server.ts";

const timeoutMs = 15_000;

// biome-ignore lint/suspicious/noExplicitAny: tests access messages freely; a missing member fails the test.
export type SocketMessage = any;

export class TestSocket {
  readonly socket: WebSocket;
  readonly messages: SocketMessage[] = [];
  readonly #closed: Promise<{ code: number; reason: string }>;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (bytes) => this.messages.push(JSON.parse(String(bytes))));
    // Errors are visible in the close code.
    socket.on("error", () => {});
    this.#closed = new Promise((resolve) =>
      socket.on("close", (code, reason) => resolve({ code, reason: String(reason) })),
    );
  }

  /** @param protocol null requests no subprotocol */
  static async open(
    { url }: Pick<Portico, "url">,
    options: Pick<ClientOptions, "headers"> & { protocol?: string | null } = {},
  ): Promise<TestSocket> {
    const { protocol = "graphql-transport-ws", ...others } = options;
    const socket = new WebSocket(`${url.replace("http", "ws")}/graphql`, protocol ?? [], others);
    const opened = new TestSocket(socket);
    await once(socket, "open");
    return opened;
  }

  /** Opens a connection and authenticates it. */
  static async ready(server: Pick<Portico, "url" | "key">, key: string = server.key): Promise<TestSocket> {
    const socket = await TestSocket.open(server);
    socket.send({ type: "connection_init", payload: { authorization: `Bearer ${key}` } });
    await socket.message(({ type }) => type === "connection_ack");
    return socket;
  }

  send(message: object | string | Buffer): void {
    const isPlain = typeof message === "string" || Buffer.isBuffer(message);
    this.socket.send(isPlain ? message : JSON.stringify(message));
  }

  subscribe(id: string, query: string, more: object = {}): void {
    this.send({ id, type: "subscribe", payload: { query, ...more } });
  }

  /** Waits for a message. */
  async message(isWanted: (message: SocketMessage) => boolean): Promise<SocketMessage> {
    for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(5)) {
      const message = this.messages.find(isWanted);
      if (message) return message;
    }
    throw new Error(`no such message; received ${this.#received}`);
  }

  /** Waits for a number of results of an operation. */
  async results(id: string, count: number): Promise<SocketMessage[]> {
    const results = (): SocketMessage[] =>
      this.messages
        .filter((message) => message.id === id && message.type === "next")
        .map(({ payload }) => payload);
    for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(5))
      if (results().length >= count) break;
    return results();
  }

  /** Waits until the server has closed the connection. @returns the code and reason */
  async closed(): Promise<{ code: number; reason: string }> {
    const timeout = sleep(timeoutMs, undefined, { ref: false }).then(() => {
      throw new Error(`still open; received ${this.#received}`);
    });
    return Promise.race([this.#closed, timeout]);
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.#closed;
  }

  /** The last messages, for an error. Some tests receive hundreds of megabytes. */
  get #received(): string {
    const texts = this.messages.slice(-10).map((message) => JSON.stringify(message).slice(0, 200));
    return `${this.messages.length} messages, the last of them ${texts.join()}`;
  }
}
