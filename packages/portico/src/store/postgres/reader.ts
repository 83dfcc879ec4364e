// A connection for quick reads. Reads are pipelined, so one that waits for a lock, while its table is changed, delays all
// reads behind it. The reader then counts as stalled, and further reads use other connections.

import type { Connection } from "./connection.ts";
import { maxAgeMs } from "./pool.ts";

/** How long a connection may be silent before it counts as stalled. */
const stallTimeoutMs = 100;
/** How long the pending statements of an old connection may take. */
const closeTimeoutSeconds = 20;

export class Reader {
  readonly #open: () => Connection;
  #connection: Connection | undefined;

  constructor(open: () => Connection) {
    this.#open = open;
  }

  get isStalled(): boolean {
    return this.#connection !== undefined && this.#connection.silentMs > stallTimeoutMs;
  }

  /** The number of pending statements; for a connection that is not open, between none and one. */
  get load(): number {
    return this.#connection && !this.#connection.isLost ? this.#connection.pending : 0.5;
  }

  /** The connection to read on. An old or lost one is replaced. */
  get connection(): Connection {
    const current = this.#connection;
    if (current && !current.isLost && current.ageMs < maxAgeMs) return current;
    if (current && !current.isLost) current.close(closeTimeoutSeconds).catch(() => {});
    this.#connection = this.#open();
    return this.#connection;
  }

  /** The open connection; none before the first read. */
  get connections(): readonly Connection[] {
    return this.#connection ? [this.#connection] : [];
  }

  destroy(error: Error): void {
    this.#connection?.destroy(error);
  }
}
