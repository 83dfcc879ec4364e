// Reads of requests that were received together share one read transaction, and so one snapshot. SQLite then locks the
// file and checks the write-ahead log once for all of them, which saves a fifth of the time of reading a row.

import type { SqliteConnection } from "./connection.ts";

export class ReadTransaction {
  readonly #connection: SqliteConnection;
  #isOpen = false;
  #isPaused = false;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /** Opens the transaction before a read. It is closed before the event loop polls its sockets again. */
  open(): void {
    if (this.#isOpen || this.#isPaused) return;
    this.#connection.all("begin");
    this.#isOpen = true;
    setImmediate(() => this.close());
  }

  /**
   * Called after each commit of this process, so that a read after a write sees the write. No transaction is opened until
   * the next tick: one that is opened in between would still be open when later requests are received, and they would
   * read its older snapshot.
   */
  closeUntilNextTick(): void {
    this.close();
    this.#isPaused = true;
    setImmediate(() => {
      this.#isPaused = false;
    });
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // A fault of the file may have ended the transaction. An error here belongs to no request; the next read reports it.
    for (const end of ["commit", "rollback"]) {
      if (!this.#connection.native.isTransaction) return;
      try {
        this.#connection.all(end);
      } catch {}
    }
  }
}
