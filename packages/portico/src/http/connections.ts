// Limits the open connections. A connection takes memory and a file descriptor before any credential is checked. At the
// limit, a new connection evicts an idle one, preferably of the network with the most connections, so that no client can
// shut out others by holding connections open.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { LoggedProblem, Problem } from "../errors.ts";
import { networkOf } from "../net/network.ts";
import type { OverloadLog } from "./logging/overload-log.ts";

/** Pipelined requests on one connection whose responses are not read yet (RFC 9112, section 9.3.2). */
const maxPipelined = 100;
/** Connections that are compared for each eviction. */
const evictionProbes = 32;
/** How long refused connections stay open to receive a response, and how many; others are closed at once. */
const refusalTimeoutMs = 2_000;
const maxRefused = 100;

export class Connection {
  readonly socket: Socket;
  /** The network that its latest request came from. */
  network: string;
  /** Whether it has switched from HTTP to another protocol. */
  isUpgraded = false;
  /** Oldest first; finished ones are removed with the next request. */
  readonly #responses: ServerResponse[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    this.network = networkOf(socket.remoteAddress ?? "");
  }

  add(response: ServerResponse): void {
    while (this.#responses[0]?.writableFinished) this.#responses.shift();
    this.#responses.push(response);
  }

  get latestRequest(): IncomingMessage | undefined {
    return this.#responses.at(-1)?.req;
  }

  get isOverPipelined(): boolean {
    return this.#responses.length > maxPipelined;
  }

  /** Whether no response is in progress. A connection without a complete request is idle too. */
  get isIdle(): boolean {
    return !this.isUpgraded && this.#responses.every((response) => response.writableFinished);
  }

  /** Bytes that were written and the peer has not read. Pipelined responses after the first one buffer their own. */
  get unreadBytes(): number {
    let bytes = this.socket.writableLength;
    for (const response of this.#responses) if (!response.socket) bytes += response.writableLength;
    return bytes;
  }
}

export interface ConnectionBounds {
  readonly maxConnections: number;
  /**
   * The client's IP address of a request, if a proxy sends the requests of many clients on one connection. Otherwise
   * undefined: the peer of the connection is the client.
   */
  readonly addressOf: ((request: IncomingMessage) => string) | undefined;
  readonly overloads: OverloadLog;
}

export class Connections implements Iterable<Connection> {
  readonly #bounds: ConnectionBounds;
  readonly #all = new Set<Connection>();
  readonly #ofSocket = new WeakMap<Socket, Connection>();
  readonly #counts = new Map<string, number>();
  #refused = 0;

  constructor(server: Server, bounds: ConnectionBounds) {
    this.#bounds = bounds;
    server.on("connection", (socket) => this.#admit(socket));
    server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
      const connection = this.#ofSocket.get(request.socket);
      if (!connection) return;
      connection.add(response);
      if (bounds.addressOf) this.#move(connection, networkOf(bounds.addressOf(request)));
    });
    server.prependListener("upgrade", ({ socket }: IncomingMessage) => {
      const connection = this.#ofSocket.get(socket);
      if (connection) connection.isUpgraded = true;
    });
  }

  of(socket: Socket): Connection | undefined {
    return this.#ofSocket.get(socket);
  }

  /** Counts a connection that another HTTP server has accepted. */
  adopt(socket: Socket): void {
    if (!this.#ofSocket.has(socket)) this.#admit(socket);
  }

  [Symbol.iterator](): Iterator<Connection> {
    return this.#all.values();
  }

  close(connection: Connection): void {
    this.#remove(connection);
    connection.socket.destroy();
  }

  #admit(socket: Socket): void {
    const connection = new Connection(socket);
    const count = this.#count(connection.network, 1);
    if (this.#all.size >= this.#bounds.maxConnections && !this.#evict(count)) {
      this.#count(connection.network, -1);
      this.#refuse(socket);
      return;
    }
    this.#all.add(connection);
    this.#ofSocket.set(socket, connection);
    socket.once("close", () => this.#remove(connection));
  }

  /** Keeps the connection open for a while: `requireAdmitted` refuses its first request. */
  #refuse(socket: Socket): void {
    this.#bounds.overloads.count("connectionsRefused");
    if (this.#refused >= maxRefused) return void socket.destroy();
    this.#refused += 1;
    const timeout = setTimeout(() => socket.destroy(), refusalTimeoutMs);
    socket.once("close", () => {
      clearTimeout(timeout);
      this.#refused -= 1;
    });
  }

  /** @param count connections of the new connection's network, itself included */
  #evict(count: number): boolean {
    let candidate: Connection | undefined;
    for (const next of this.#nextInTurn())
      if (!candidate || this.#isPreferredToEvict(next, candidate)) candidate = next;
    if (!candidate || (!candidate.isIdle && this.#countOf(candidate) <= count)) return false;
    this.#bounds.overloads.count("connectionsClosed");
    this.close(candidate);
    return true;
  }

  #isPreferredToEvict(one: Connection, other: Connection): boolean {
    if (one.isIdle !== other.isIdle) return one.isIdle;
    return this.#countOf(one) > this.#countOf(other);
  }

  /**
   * Some connections, others each time: they go to the end of the set. An iterator that continued where it stopped would
   * keep in memory what the set has held since its last step: every connection, as long as none is evicted.
   */
  #nextInTurn(): readonly Connection[] {
    const next = this.#all.values().take(evictionProbes).toArray();
    for (const connection of next) {
      this.#all.delete(connection);
      this.#all.add(connection);
    }
    return next;
  }

  #countOf({ network }: Connection): number {
    return this.#counts.get(network) ?? 0;
  }

  #move(connection: Connection, network: string): void {
    if (connection.network === network || !this.#all.has(connection)) return;
    this.#count(connection.network, -1);
    this.#count(network, 1);
    connection.network = network;
  }

  #remove(connection: Connection): void {
    if (this.#all.delete(connection)) this.#count(connection.network, -1);
  }

  #count(network: string, change: number): number {
    const count = (this.#counts.get(network) ?? 0) + change;
    if (count > 0) this.#counts.set(network, count);
    else this.#counts.delete(network);
    return count;
  }
}

/** @throws Problem if the connection was not admitted, or has too many pipelined requests */
export function requireAdmitted(connection: Connection | undefined): void {
  if (!connection)
    throw new LoggedProblem("unavailable", "Too many connections are open. Try again.", [], {
      Connection: "close",
    });
  if (!connection.isOverPipelined) return;
  const message = `More than ${maxPipelined} requests are waiting on this connection. Read their responses first.`;
  throw new Problem("rate_limited", message, [], { "Retry-After": "1" });
}
