// One connection for reads along an index. They are pipelined on it, so one that waits for a lock, behind a change of
// its table, makes all after it wait as well: from then on others do not join them.

import type { Connection } from "./connection.ts";
import { maxLifeMs } from "./pool.ts";

/** How long a connection may answer nothing before it counts as held up. */
const stallTimeoutMs = 100;
/** How long an old connection may take for what is under way on it. */
const lastSeconds = 20;

export class Reader {
  readonly #open: () => Connection;
  #connection: Connection | undefined;

  constructor(open: () => Connection) {
    this.#open = open;
  }

  get isStalled(): boolean {
    return this.#connection !== undefined && this.#connection.quietMs > stallTimeoutMs;
  }

  /** The connection to read on. */
  get connection(): Connection {
    const known = this.#connection;
    if (known && !known.isLost && known.ageMs < maxLifeMs) return known;
    if (known && !known.isLost) known.close(lastSeconds).catch(() => {});
    this.#connection = this.#open();
    return this.#connection;
  }

  /** That which is open; none before the first read. */
  get connections(): readonly Connection[] {
    return this.#connection ? [this.#connection] : [];
  }

  destroy(error: Error): void {
    this.#connection?.destroy(error);
  }
}
