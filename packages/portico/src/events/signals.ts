// Signals between the processes that use a PostgreSQL database: one that has committed events notifies the others
// (LISTEN and NOTIFY), which then poll at once. A notification in the transaction of a write would serialize all commits,
// because PostgreSQL holds a lock from such a notification to the end of the commit. So it is sent afterwards, once for
// many commits. If it is lost, a later poll finds the events.

import { randomUUID } from "node:crypto";
import type { EndListening, Statement } from "../store/database.ts";
import type { Store } from "../store/store.ts";

const channel = "portico_events";
/** The minimum interval between two notifications. */
const announceIntervalMs = 10;
const retryIntervalMs = 1_000;

const notify: Statement<string> = {
  sql: `select pg_notify('${channel}', $1)`,
  bind: (payload) => [payload],
};

export class EventSignals {
  readonly #store: Store;
  readonly #onSignal: () => void;
  /** Tells the notifications of this process from those of others. */
  readonly #processId = randomUUID();
  #announcing: NodeJS.Timeout | undefined;
  #announcedAt = Number.NEGATIVE_INFINITY;
  #endListening: EndListening | undefined;
  #isOpening = false;
  #isEstablished = false;
  #retryAt = Number.NEGATIVE_INFINITY;

  /** @param onSignal called when another process has committed events */
  constructor(store: Store, onSignal: () => void) {
    this.#store = store;
    this.#onSignal = onSignal;
  }

  /** Whether notifications arrive. Behind some connection poolers they never do. */
  get isEstablished(): boolean {
    return this.#isEstablished;
  }

  /** Notifies other processes soon. */
  announce(): void {
    if (!this.#store.database.isRemote || this.#announcing) return;
    const delayMs = Math.max(0, this.#announcedAt + announceIntervalMs - performance.now());
    this.#announcing = setTimeout(() => {
      this.#announcing = undefined;
      this.#announcedAt = performance.now();
      this.#send(this.#processId);
    }, delayMs).unref();
  }

  /** Listens, unless it does already or has just failed to. */
  ensureListening(): void {
    const { database } = this.#store;
    if (!database.listen || this.#endListening || this.#isOpening || performance.now() < this.#retryAt)
      return;
    this.#isOpening = true;
    database
      .listen(channel, {
        onNotification: (payload) => this.#receive(payload),
        onEnd: () => this.#closed(),
      })
      .then(
        (endListening) => this.#opened(endListening),
        () => this.#closed(),
      );
  }

  #opened(endListening: EndListening): void {
    this.#isOpening = false;
    this.#endListening = endListening;
    // The listener counts once this has arrived.
    this.#send(`${this.#processId} listens`);
  }

  #closed(): void {
    this.#isOpening = false;
    this.#endListening = undefined;
    this.#isEstablished = false;
    this.#retryAt = performance.now() + retryIntervalMs;
  }

  stopListening(): void {
    this.#endListening?.();
  }

  #receive(payload: string): void {
    this.#isEstablished = this.#endListening !== undefined;
    if (!payload.startsWith(this.#processId)) this.#onSignal();
  }

  #send(payload: string): void {
    this.#store.database.query(notify, payload).catch(() => {
      // A poll finds the events.
    });
  }
}
