// From when on an endpoint gets events: those that are committed after it was enabled. On PostgreSQL a transaction that
// was in progress then has a lower number than some that had ended, so the snapshot is kept, not only a position.

import type { Position } from "../events/position.ts";

export class Start {
  /** No event up to here is after the start. */
  readonly position: Position;
  readonly #firstUnassigned: number;
  readonly #inProgress: ReadonlySet<number>;

  /** @param snapshot of `pg_current_snapshot()`; null on SQLite */
  constructor(position: Position, snapshot: string | null) {
    this.position = position;
    const [, xmax = "0", inProgress = ""] = (snapshot ?? "").split(":");
    this.#firstUnassigned = Number(xmax);
    this.#inProgress = new Set(inProgress === "" ? [] : inProgress.split(",").map(Number));
  }

  isBefore(event: Position): boolean {
    if (!event.isAfter(this.position)) return false;
    const { transactionId } = event;
    return transactionId >= this.#firstUnassigned || this.#inProgress.has(transactionId);
  }
}
