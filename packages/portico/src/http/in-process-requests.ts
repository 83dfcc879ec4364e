// Requests that do not arrive at the port of the server: those of its own process, those that another HTTP server
// received, and those on connections that another process accepted. They pass the same hooks as all others.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, duplexPair, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { Problem } from "../errors.ts";
import type { Connections } from "./connections.ts";

/** Responses that have no body (Fetch, section 2.2.6). */
const bodilessStatuses: ReadonlySet<number | undefined> = new Set([204, 205, 304]);
const loopback = "127.0.0.1";
/**
 * For how long an idle connection stays open while the server closes. A request that its client has already sent is
 * answered, with `Connection: close`, instead of failing.
 */
const lingerMs = 50;
const checkIdleMs = 10;

export class InProcessRequests {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #inProgress = new Set<Promise<void>>();
  readonly #accepted = new Set<Socket>();
  readonly #idleClosed = Promise.withResolvers<void>();
  #isClosed = false;

  /** @param server does not have to listen */
  constructor(server: Server, connections: Connections) {
    this.#server = server;
    this.#connections = connections;
  }

  /**
   * Sends a request on a connection in memory. A redirect is returned, not followed.
   *
   * @param remoteAddress the network address of the client, as the server is to see it
   * @throws Error if the server is closed, or closes the connection
   */
  async fetch(request: Request, remoteAddress: string = loopback): Promise<Response> {
    if (this.#isClosed) throw new Error("the server is closed; create another one");
    const [clientSide, serverSide] = duplexPair();
    // The server reads the address of a socket; what else a socket has, it does not need.
    this.#server.emit("connection", Object.assign(serverSide, { remoteAddress }) as Duplex as Socket);
    this.#track(serverSide);
    return exchange(request, clientSide);
  }

  /** Handles a request that another HTTP server received, whose body nobody has read. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    if (this.#isClosed) {
      const problem = new Problem("unavailable", "The server is closed.");
      response.writeHead(problem.status, {
        ...problem.headers,
        "Content-Type": "application/json; charset=utf-8",
      });
      response.end(problem.toText());
      return;
    }
    this.#connections.adopt(request.socket);
    this.#track(response);
    this.#server.emit("request", request, response);
  }

  /** Serves a connection that another process accepted and from which nobody has read. */
  accept(socket: Socket): void {
    if (this.#isClosed) return void socket.destroy();
    this.#accepted.add(socket);
    socket.once("close", () => this.#accepted.delete(socket));
    this.#server.emit("connection", socket);
    this.#track(socket);
  }

  /** When the accepted connections that were idle at the call of `close` are closed. */
  get idleClosed(): Promise<void> {
    return this.#idleClosed.promise;
  }

  /** Refuses further requests, and waits for those in progress and those on accepted connections that are in use. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    const closing = this.#closeIdle();
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([Promise.all(this.#inProgress), tooLong]);
    clearTimeout(timer);
    clearInterval(closing);
    this.#idleClosed.resolve();
    for (const socket of this.#accepted) socket.destroy();
  }

  /** Closes accepted connections, which Node's server does not know, as soon as they are idle for a moment. */
  #closeIdle(): NodeJS.Timeout {
    const idleSince = new Map<Socket, number>();
    return setInterval(() => {
      const now = performance.now();
      for (const socket of this.#accepted) {
        if (this.#connections.of(socket)?.isIdle === false) idleSince.delete(socket);
        else if (!idleSince.has(socket)) idleSince.set(socket, now);
        else if (now - idleSince.get(socket)! >= lingerMs) {
          this.#accepted.delete(socket);
          socket.destroy();
        }
      }
      if (![...this.#accepted].some((socket) => idleSince.has(socket))) this.#idleClosed.resolve();
    }, checkIdleMs);
  }

  #track(stream: Duplex | ServerResponse): void {
    const ended = new Promise<void>((resolve) => stream.once("close", resolve));
    this.#inProgress.add(ended);
    // handled: it never rejects.
    void ended.then(() => this.#inProgress.delete(ended));
  }
}

function exchange(request: Request, connection: Duplex): Promise<Response> {
  const { pathname, search, host } = new URL(request.url);
  const { method, signal } = request;
  const headers = { host, ...Object.fromEntries(request.headers) };
  const http = process.getBuiltinModule("node:http");
  return new Promise((resolve, reject) => {
    const outgoing = http.request({
      ...{ method, signal, headers, path: `${pathname}${search}` },
      createConnection: () => connection,
    });
    outgoing.on("error", reject);
    outgoing.once("response", (incoming) => resolve(responseOf(incoming, method)));
    // handled: an error of the body ends the request, which reports it above.
    if (request.body) pipeline(Readable.fromWeb(nodeStream(request.body)), outgoing).catch(() => {});
    else outgoing.end();
  });
}

function responseOf(incoming: IncomingMessage, method: string): Response {
  const { statusCode: status = 200, statusMessage: statusText = "", rawHeaders } = incoming;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index]!, rawHeaders[index + 1]!);
  const isBodiless = method === "HEAD" || bodilessStatuses.has(status);
  if (isBodiless) incoming.resume();
  const body = isBodiless ? null : (Readable.toWeb(incoming) as ConstructorParameters<typeof Response>[0]);
  return new Response(body, { status, statusText, headers });
}

/** The same stream: the types of the web and those of Node differ, their classes do not. */
function nodeStream(stream: NonNullable<Request["body"]>): ReadableStream {
  return stream as unknown as ReadableStream;
}
