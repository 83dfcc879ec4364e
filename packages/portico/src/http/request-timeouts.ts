// The time limit for receiving a whole request. Node's is the same for all routes of a server, but the bodies of some may
// arrive for as long as they like. Requests are looked at now and then, so that those that arrive at once cost nothing.

import type { IncomingMessage, Server } from "node:http";
import type { Connections } from "./connections.ts";

const timeoutMs = 30_000;
const intervalMs = 2_000;

/** What Node reports when a request has timed out. */
class RequestTimeout extends Error {
  readonly code = "ERR_HTTP_REQUEST_TIMEOUT";
}

export class RequestTimeouts {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #exempt = new WeakSet<IncomingMessage>();
  /** When a request was first seen incomplete, in milliseconds of `performance.now()`. */
  readonly #since = new WeakMap<IncomingMessage, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(server: Server, connections: Connections) {
    this.#server = server;
    this.#connections = connections;
    this.#timer = setInterval(() => this.#check(performance.now()), intervalMs).unref();
  }

  /** Lets the body of a request arrive for longer. @returns ends that: the rest has the time of a whole request */
  exempt(request: IncomingMessage): () => void {
    this.#exempt.add(request);
    return () => {
      this.#since.delete(request);
      this.#exempt.delete(request);
    };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(now: number): void {
    for (const { isUpgraded, latestRequest: request, socket } of this.#connections) {
      if (isUpgraded || !request || request.complete || this.#exempt.has(request)) continue;
      const since = this.#since.get(request);
      if (since === undefined) this.#since.set(request, now);
      // As Node does it.
      else if (now - since >= timeoutMs)
        this.#server.emit("clientError", new RequestTimeout("the request timed out"), socket);
    }
  }
}
