// The port of `portico dev`. It stays open while the processes that serve its connections come and go.

import type { Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Problem } from "../../errors.ts";
import { listenFailure } from "../../http/listen.ts";

export class SharedPort {
  readonly #accept: (connection: Socket) => void;
  readonly #refusals: HttpServer;
  #server: Server | undefined;
  #requested = "";
  #reason = "";

  /** @param accept gets each connection, from which nothing has been read */
  constructor(accept: (connection: Socket) => void) {
    this.#accept = accept;
    const http = process.getBuiltinModule("node:http");
    this.#refusals = http.createServer((_request, response) => {
      const problem = new Problem("unavailable", this.#reason);
      response.writeHead(problem.status, {
        ...problem.headers,
        "Content-Type": "application/json; charset=utf-8",
        Connection: "close",
      });
      response.end(problem.toText());
    });
  }

  /**
   * Listens, unless it already does. Another host or port replaces the previous one.
   * @returns the port
   * @throws OperatorError if the port is in use
   */
  async listen(host: string, port: number): Promise<number> {
    const requested = `${host}:${port}`;
    if (this.#server && this.#requested === requested) return portOf(this.#server);
    const server = createServer({ pauseOnConnect: true }, (connection) => {
      // A caller may close the connection at any time.
      connection.on("error", () => {});
      this.#accept(connection);
    });
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen({ host, port }, resolve);
      });
    } catch (error) {
      throw listenFailure(error, host, port);
    }
    // A later error concerns one connection, for lack of file descriptors, for example.
    server.on("error", () => {});
    this.close();
    this.#server = server;
    this.#requested = requested;
    return portOf(server);
  }

  /** Answers the request of a connection with 503. */
  refuse(connection: Socket, reason: string): void {
    this.#reason = reason;
    this.#refusals.emit("connection", connection);
    connection.resume();
  }

  /** Accepts no more connections. */
  close(): void {
    this.#server?.close();
    this.#server = undefined;
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
