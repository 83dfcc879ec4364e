// Connections that each serve one transaction, or one long read, at a time.

import type { Connection } from "./connection.ts";

/** Connections are renewed, so that those to a server behind a balancer move on, and their memory is freed. */
export const maxLifeMs = 30 * 60 * 1000;

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

  /** Runs `work` on a connection that nobody else uses meanwhile. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#take();
    try {
      return await work(connection);
    } finally {
      this.#release(connection);
    }
  }

  /** Closes all connections at once; whatever uses one or waits for one fails. */
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

  #take(): Connection | Promise<Connection> {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (!idle.isLost && idle.ageMs < maxLifeMs) return idle;
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
    // Those that a destroyed pool has lost are replaced by others, of which there may be as many as allowed already.
    if (connection.isLost && this.#all.size >= this.#max) return;
    this.#pending.shift();
    next.resolve(connection.isLost ? this.#add() : connection);
  }

  #discard(connection: Connection): void {
    this.#all.delete(connection);
    connection.destroy();
  }
}
