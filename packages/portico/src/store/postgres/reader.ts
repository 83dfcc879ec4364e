// One connection for reads along an index. They are pipelined on it, so one that waits for a lock, behind a change of
// its table, makes all after it wait as well: from then on others do not join them.

import type postgres from "postgres";

/** How long a connection may answer nothing before it counts as held up. */
const patienceMs = 100;

export class Reader {
  readonly sql: postgres.Sql;
  #pending = 0;
  /** When it answered last, or was asked first. */
  #movedAt = 0;

  constructor(sql: postgres.Sql) {
    this.sql = sql;
  }

  get isHeldUp(): boolean {
    return this.#pending > 0 && performance.now() - this.#movedAt > patienceMs;
  }

  async read<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    if (this.#pending === 0) this.#movedAt = performance.now();
    this.#pending += 1;
    try {
      return await work(this.sql);
    } finally {
      this.#pending -= 1;
      this.#movedAt = performance.now();
    }
  }
}
