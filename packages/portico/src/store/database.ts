// What the store asks of a database: run statements that were compiled before, alone or in a transaction.

import { OperatorError, Problem } from "../errors.ts";
import type { Report } from "../lib/report.ts";
import type { CountRefused } from "./slow-read-queue.ts";

/** SQL text and, for each of its parameters, how the value is taken from the input of a call. */
export interface Statement<Input> {
  readonly sql: string;
  readonly bind: (input: Input) => unknown[];
  /** Whether it may look at many more rows than it answers with, and so must not hold up others. */
  readonly mayScan?: boolean;
  /** The tenant that it reads for: tenants take turns with what may take long. */
  readonly tenantOf?: (input: Input) => string;
  /** Whether it fails with `AnswerTooLarge` where it returns much: whoever runs it has another that is bounded. */
  readonly failsIfLarge?: boolean;
  /**
   * Whether its rows are read one by one, and no more once the texts of their first column would be larger than an answer
   * may be. The row that would exceed it is the last, with null for its text. Only SQLite does so.
   */
  readonly endsIfLarge?: boolean;
}

/** A row as a list of columns, in the order of the statement. */
export type ColumnValues = readonly unknown[];

/** Where statements run: outside a transaction, or inside one. */
export interface Session {
  query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]>;
}

/** A transaction that is under way. */
export interface Transaction extends Session {
  /** Runs a part of it under a savepoint: when `work` throws, nothing of the part remains and the rest goes on. */
  nested<T>(work: (part: Transaction) => Promise<T>): Promise<T>;
}

export interface Database extends Session {
  /** Whether a statement crosses a network, so that it pays to share one. */
  readonly isRemote: boolean;
  /**
   * Runs `work` in a transaction. What it returns is handed on only after the commit is on disk; when it
   * throws, nothing that it did remains.
   */
  transaction<T>(work: (session: Transaction) => Promise<T>): Promise<T>;
  /**
   * Finds out from here on when the database cannot be used, and says so once; requests are refused meanwhile.
   *
   * @param countRefused is told of each slow read that is refused because there are too many, or that takes too long
   */
  watch(report: Report, countRefused: CountRefused): void;
  /** Runs SQL text that is not worth keeping: settings. */
  run(sql: string): Promise<void>;
  /** Runs `work`, which may take as long as it needs, apart from requests: migrations. */
  maintain<T>(work: (session: Maintenance) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** What takes as long as it needs. */
export interface Maintenance extends Session {
  transaction<T>(work: (session: Transaction) => Promise<T>): Promise<T>;
  /** Runs SQL text, outside a transaction. */
  run(sql: string): Promise<void>;
}

export interface StoreOptions {
  /** How long a read may take that may look at many rows: a search, a numbered page, nested lists. */
  readonly slowReadMs: number;
}

export const standardOptions: StoreOptions = { slowReadMs: 10_000 };

/** Longest time that the work of one transaction may take; a hook that waits for ever must not stop all others. */
const workTimeoutMs = 10_000;

/**
 * Runs the work of one transaction on its session. When the work is over, or takes too long, the session is
 * closed: what a hook forgot to wait for cannot slip into the transaction of somebody else.
 */
export async function workWithin<T>(
  session: Transaction,
  work: (session: Transaction) => Promise<T>,
  limitMs: number = workTimeoutMs,
): Promise<T> {
  let hasTimedOut = false;
  const guard = (unguarded: Transaction): Transaction => ({
    query(statement, input) {
      if (hasTimedOut)
        throw new Error("an operation came after its transaction ended; await every operation of a hook");
      return unguarded.query(statement, input);
    },
    nested: (part) => unguarded.nested((inner) => part(guard(inner))),
  });
  if (limitMs === Number.POSITIVE_INFINITY) return await work(session);
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Problem("unavailable", "The write took too long.")), limitMs);
  });
  try {
    return await Promise.race([work(guard(session)), tooLong]);
  } finally {
    hasTimedOut = true;
    clearTimeout(timer);
  }
}

/** A constraint that a write broke. */
export class ConstraintError extends Error {
  override readonly name = "ConstraintError";
  readonly kind: "unique" | "reference";
  /** The columns of the unique index; empty where the database does not say. */
  readonly columns: readonly string[];

  constructor(kind: "unique" | "reference", columns: readonly string[], cause: unknown) {
    super(`${kind} constraint`, { cause });
    this.kind = kind;
    this.columns = columns;
  }
}

/** A table or column that the declarations need is not there. */
export class MissingSchema extends OperatorError {
  constructor(cause: Error) {
    super(`the database lacks what the declarations need (${cause.message}); run portico migrate`, { cause });
  }
}
