// A pool of connections, each of which runs one transaction or one slow read at a time.

import type { Connection } from "./connection.ts";

/** Maximum age of a connection. Renewal rebalances connections behind a load balancer and frees memory of the server. */
export const maxAgeMs = 30 * 60 * 1000;

interface PendingRequest {
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: unknown) => void;
}

export class Pool {
  readonly #open: () => Connection;
  readonly #max: number;
  readonly #all = new Set<Connection>();
  readonly #idle: Connection[] = [];
  #pending: PendingRequest[] = [];

  constructor(open: () => Connection, max: number) {
    this.#open = open;
    this.#max = max;
  }

  get connections(): Iterable<Connection> {
    return this.#all;
  }

  /** Runs `work` on a connection that is not shared meanwhile. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#acquire();
    try {
      return await work(connection);
    } finally {
      this.#release(connection);
    }
  }

  /** Closes all connections at once, and rejects all work that uses one or waits for one. */
  destroy(error: Error): void {
    for (const connection of this.#all) connection.destroy(error);
    this.#all.clear();
    this.#idle.length = 0;
    const pending = this.#pending;
    this.#pending = [];
    for (const { reject } of pending) reject(error);
  }

  async close(timeoutSeconds: number): Promise<void> {
    await Promise.all([...this.#all].map((connection) => connection.close(timeoutSeconds)));
  }

  #acquire(): Connection | Promise<Connection> {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (!idle.isLost && idle.ageMs < maxAgeMs) return idle;
      this.#discard(idle);
    }
    if (this.#all.size < this.#max) return this.#add();
    return new Promise((resolve, reject) => this.#pending.push({ resolve, reject }));
  }

  #add(): Connection {
    const connection = this.#open();
    this.#all.add(connection);
    return connection;
  }

  #release(connection: Connection): void {
    if (connection.isLost) this.#discard(connection);
    const next = this.#pending[0];
    if (!next) {
      if (!connection.isLost) this.#idle.push(connection);
      return;
    }
    // `destroy` has forgotten this connection, and the pool may be full of new ones already.
    if (connection.isLost && this.#all.size >= this.#max) return;
    this.#pending.shift();
    next.resolve(connection.isLost ? this.#add() : connection);
  }

  #discard(connection: Connection): void {
    this.#all.delete(connection);
    connection.destroy();
  }
}
