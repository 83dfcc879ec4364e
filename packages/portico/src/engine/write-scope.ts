// Where the writes of a caller run: each in a transaction of its own, or several in one.

import type { Session, Transaction, TransactionOptions } from "../store/database.ts";

/** Where a write runs. */
export interface WriteScope {
  /** The session that reads for a write before it starts, and after it has failed. */
  readonly session: Session;
  /** The transaction of all writes; undefined if each has its own. */
  readonly transaction: Transaction | undefined;
  /** Runs one write: if it throws, nothing of it remains. */
  run<T>(work: (session: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

/** A write of a transaction without savepoints has failed, so that the transaction must be rolled back. */
export class FailedWrite extends Error {}

/** Where writes run that are undone together with all others of their transaction. */
export function withoutSavepoints(transaction: Transaction): WriteScope {
  return {
    session: transaction,
    transaction,
    run: async (work) => {
      try {
        return await work(transaction);
      } catch (cause) {
        throw new FailedWrite("a write without a savepoint failed", { cause });
      }
    },
  };
}
