// The lease of the process that reads events for webhooks, with the stored position.

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { Position } from "../events/position.ts";
import type { Transaction } from "../store/database.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { readerTable } from "./reader-table.ts";

const leaseMs = 6_000;

const insertReader = defineQuery([readerTable], (db) =>
  db
    .insertInto("webhook_reader")
    .values({ id: sql.lit("events"), transaction_id: sql.lit(0), sequence: sql.lit(0) })
    .onConflict((conflict) => conflict.column("id").doNothing()),
);

interface LeaseInput {
  readonly leaseId: string;
  readonly now: string;
  readonly until: string;
}

/** Takes or extends the lease. */
const takeLease = defineQuery([readerTable], (db, { leaseId, now, until }: ParametersOf<LeaseInput>) =>
  db
    .updateTable("webhook_reader")
    .set({ lease_id: leaseId, lease_until: until })
    .where(({ eb, or }) =>
      or([eb("lease_until", "is", null), eb("lease_until", "<", now), eb("lease_id", "=", leaseId)]),
    )
    .returning(["transaction_id as transactionId", "sequence"]),
);

/** Moves the position. Returns nothing if the lease is lost. */
const movePosition = defineQuery(
  [readerTable],
  (db, input: ParametersOf<LeaseInput & { transactionId: number; sequence: number }>) =>
    db
      .updateTable("webhook_reader")
      .set({ transaction_id: input.transactionId, sequence: input.sequence, lease_until: input.until })
      .where("lease_id", "=", input.leaseId)
      .where("lease_until", ">", input.now)
      .returning("id"),
);

const endLease = defineQuery([readerTable], (db, { leaseId }: ParametersOf<{ leaseId: string }>) =>
  db
    .updateTable("webhook_reader")
    .set({ lease_until: sql.lit(null) })
    .where("lease_id", "=", leaseId),
);

export class ReaderLease {
  readonly #store: Store;
  readonly #leaseId = randomUUID();
  #until = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Whether it is time to take or extend the lease. */
  isEnding(now: number): boolean {
    return now > this.#until - leaseMs / 2;
  }

  /** Takes or extends the lease. @returns the stored position; undefined if another process has the lease */
  async take(now: number): Promise<Position | undefined> {
    const stored = await this.#store.transaction(async (session) => {
      await insertReader(this.#store).run(session);
      return takeLease(this.#store).first(session, this.#input(now));
    });
    if (!stored) this.lose();
    return stored && new Position(stored.transactionId, stored.sequence);
  }

  /**
   * Moves the stored position in a transaction, and extends the lease.
   * @returns whether this process still has it
   */
  async move({ transactionId, sequence }: Position, now: number, session: Transaction): Promise<boolean> {
    const moved = { ...this.#input(now), transactionId, sequence };
    return (await movePosition(this.#store).first(session, moved)) !== undefined;
  }

  /** Another process has the lease. */
  lose(): void {
    this.#until = 0;
  }

  async end(): Promise<void> {
    const leaseId = this.#leaseId;
    await this.#store.transaction((session) => endLease(this.#store).run(session, { leaseId }));
  }

  #input(now: number): LeaseInput {
    this.#until = now + leaseMs;
    const [from, until] = [now, this.#until].map((time) => new Date(time).toISOString());
    return { leaseId: this.#leaseId, now: from!, until: until! };
  }
}
