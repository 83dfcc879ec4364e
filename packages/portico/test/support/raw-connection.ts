// A TCP connection that sends exactly the bytes of a test, as no HTTP client would.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface RawOptions {
  /** Another local address, such as `127.0.0.2`, which the server treats as another caller. */
  readonly from?: string;
  /** Whether it reads. Without reading, responses stay in the buffers of the server. */
  readonly reads?: boolean;
  /** Whether it stays open after the server has closed its side. */
  readonly stays?: boolean;
}

export class RawConnection {
  readonly socket: Socket;
  /** The bytes received so far. */
  received = "";
  readonly #closed: Promise<unknown>;

  private constructor(socket: Socket) {
    this.socket = socket;
    // Many tests expect the server to reset the connection.
    socket.on("error", () => {});
    this.#closed = new Promise((resolve) => socket.once("close", resolve));
  }

  static async open(
    url: string,
    { from, reads = true, stays = false }: RawOptions = {},
  ): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({
      host: hostname,
      port: Number(port),
      allowHalfOpen: stays,
      ...(from !== undefined && { localAddress: from }),
    });
    const connection = new RawConnection(socket);
    if (reads) socket.setEncoding("latin1").on("data", (text) => (connection.received += text));
    else socket.pause();
    await Promise.race([once(socket, "connect"), connection.#closed]);
    return connection;
  }

  /** Sends a request, with the length of the body if there is one. */
  request(line: string, headers: Readonly<Record<string, string>> = {}, body?: string): void {
    const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    const lines = Object.entries({ Host: "portico", ...headers, ...length }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    this.socket.write(`${line} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`);
  }

  /** Whether the server closes the connection within a time. Without reading, a write detects it. */
  async isClosedWithin(ms: number): Promise<boolean> {
    return Promise.race([this.#closed.then(() => true), sleep(ms, false, { ref: false })]);
  }

  /** Waits for the first bytes. */
  async until(pattern: RegExp, ms = 5_000): Promise<void> {
    for (const end = Date.now() + ms; Date.now() < end; await sleep(10))
      if (pattern.test(this.received)) return;
    throw new Error(`${pattern} did not come within ${ms} ms; what came: ${this.received.slice(0, 500)}`);
  }

  /** Reads a few bytes. */
  read(bytes: number): void {
    this.socket.read(bytes);
  }

  /** Reads to the end of the connection. @returns how many bytes were left */
  async drain(ms = 5_000): Promise<number> {
    let bytes = 0;
    this.socket.on("data", (chunk: Buffer | string) => (bytes += chunk.length)).resume();
    if (await this.isClosedWithin(ms)) return bytes;
    throw new Error(`the connection stays open; ${bytes} bytes came`);
  }

  /** Closes with FIN, as most clients do. */
  close(): void {
    this.socket.destroy();
  }

  /** Closes with RST, as the operating system does for a process that ends with unread bytes. */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}
