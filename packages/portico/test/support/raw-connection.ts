// A connection whose every byte is the test's own: callers that no client would be.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface RawOptions {
  /** Another address of this machine, `127.0.0.2`: another caller, to the server. */
  readonly from?: string;
  /** Whether it takes what comes; one that does not lets it wait at the server. */
  readonly reads?: boolean;
  /** Whether it stays when the server has closed its side. */
  readonly stays?: boolean;
}

export class RawConnection {
  readonly socket: Socket;
  /** What came so far. */
  received = "";
  readonly #closed: Promise<unknown>;

  private constructor(socket: Socket) {
    this.socket = socket;
    // Being cut off is what many tests are about.
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

  /** Sends a request; `body` with its length, where there is one. */
  request(line: string, headers: Readonly<Record<string, string>> = {}, body?: string): void {
    const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    const lines = Object.entries({ Host: "portico", ...headers, ...length }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    this.socket.write(`${line} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`);
  }

  /** Whether the server has closed it, within a time. One that does not read learns of it when it writes. */
  async isClosedWithin(ms: number): Promise<boolean> {
    return Promise.race([this.#closed.then(() => true), sleep(ms, false, { ref: false })]);
  }

  /** Waits until something has come. */
  async until(pattern: RegExp, ms = 5_000): Promise<void> {
    for (const end = Date.now() + ms; Date.now() < end; await sleep(10))
      if (pattern.test(this.received)) return;
    throw new Error(`${pattern} did not come within ${ms} ms; what came: ${this.received.slice(0, 500)}`);
  }

  /** Takes a few bytes. */
  read(bytes: number): void {
    this.socket.read(bytes);
  }

  /** Reads from now on, up to the end of the connection; answers with how many bytes were left of it. */
  async drain(ms = 5_000): Promise<number> {
    let bytes = 0;
    this.socket.on("data", (chunk: Buffer | string) => (bytes += chunk.length)).resume();
    if (await this.isClosedWithin(ms)) return bytes;
    throw new Error(`the connection stays open; ${bytes} bytes came`);
  }

  /** Hangs up with FIN, as most do. */
  close(): void {
    this.socket.destroy();
  }

  /** Hangs up with RST, as a process that crashes with unread bytes. */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}
