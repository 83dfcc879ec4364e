// The lease of the process that queues work for events, with the position up to which it has read them.

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Statement, Transaction } from "../store/database.ts";
import { compile, parameter } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import { Position } from "./position.ts";

const leaseMs = 6_000;

interface LeaseInput {
  readonly leaseId: string;
  readonly now: string;
  readonly until: string;
}

interface MoveInput extends LeaseInput {
  readonly transactionId: number;
  readonly sequence: number;
}

interface Statements {
  readonly insert: Statement<undefined>;
  /** Takes or extends the lease. Returns the position. */
  readonly take: Statement<LeaseInput>;
  /** Moves the position. Returns nothing if the lease is lost. */
  readonly move: Statement<MoveInput>;
  readonly end: Statement<string>;
}

export class ReaderLease {
  readonly #store: Store;
  readonly #statements: Statements;
  readonly #leaseId = randomUUID();
  #until = 0;

  /** @param table the name of a table of `readerTable` */
  constructor(store: Store, table: string) {
    this.#store = store;
    this.#statements = statementsOf(store, table);
  }

  /** Whether it is time to take or extend the lease. */
  isEnding(now: number): boolean {
    return now > this.#until - leaseMs / 2;
  }

  /** Takes or extends the lease. @returns the stored position; undefined if another process has the lease */
  async take(now: number): Promise<Position | undefined> {
    // If it is not taken, because of an error too, this process has none.
    this.lose();
    const [stored] = await this.#store.transaction(async (session) => {
      await session.query(this.#statements.insert, undefined);
      return session.query(this.#statements.take, this.#input(now));
    });
    if (!stored) return undefined;
    this.#until = now + leaseMs;
    // The columns of the statement.
    const [transactionId, sequence] = stored as readonly [number, number];
    return new Position(transactionId, sequence);
  }

  /**
   * Moves the stored position in a transaction, and extends the lease.
   * @returns whether this process still has it
   */
  async move({ transactionId, sequence }: Position, now: number, session: Transaction): Promise<boolean> {
    const moved = { ...this.#input(now), transactionId, sequence };
    return (await session.query(this.#statements.move, moved)).length > 0;
  }

  /** The transaction of `move` was committed. */
  extended(now: number): void {
    this.#until = now + leaseMs;
  }

  /** Another process has the lease. */
  lose(): void {
    this.#until = 0;
  }

  async end(): Promise<void> {
    await this.#store.transaction((session) => session.query(this.#statements.end, this.#leaseId));
  }

  #input(now: number): LeaseInput {
    const [from, until] = [now, now + leaseMs].map((time) => new Date(time).toISOString());
    return { leaseId: this.#leaseId, now: from!, until: until! };
  }
}

function statementsOf({ dialect: { builder } }: Store, name: string): Statements {
  const table = sql.table(name);
  const leaseId = parameter((input: LeaseInput) => input.leaseId);
  const now = parameter((input: LeaseInput) => input.now);
  const until = parameter((input: LeaseInput) => input.until);
  return {
    insert: compile(
      builder,
      sql`insert into ${table} (id, transaction_id, sequence) values ('events', 0, 0) on conflict (id) do nothing`,
    ),
    take: compile(
      builder,
      sql`update ${table} set lease_id = ${leaseId}, lease_until = ${until}
        where lease_until is null or lease_until < ${now} or lease_id = ${leaseId}
        returning transaction_id, sequence`,
    ),
    move: compile(
      builder,
      sql`update ${table} set transaction_id = ${parameter((input: MoveInput) => input.transactionId)},
          sequence = ${parameter((input: MoveInput) => input.sequence)}, lease_until = ${until}
        where lease_id = ${leaseId} and lease_until > ${now} returning id`,
    ),
    end: compile(
      builder,
      sql`update ${table} set lease_until = null where lease_id = ${parameter((leaseId: string) => leaseId)}`,
    ),
  };
}
