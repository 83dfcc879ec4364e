// The interface of a database: it runs compiled statements, alone or in a transaction.

import { OperatorError, Problem } from "../errors.ts";
import type { Report } from "../lib/report.ts";
import type { RowStream, StreamStatements } from "./row-stream.ts";
import type { CountRefused } from "./slow-read-queue.ts";

/** SQL text, and a function that reads the values of its parameters from the input of a call. */
export interface Statement<Input> {
  readonly sql: string;
  readonly bind: (input: Input) => unknown[];
  /** What each of the bound values is, for `portico explain`. */
  readonly meanings?: readonly string[];
  /** Whether it may read many more rows than it returns. Such a statement runs apart from others, and in turn. */
  readonly mayScan?: boolean;
  /** The tenant that it reads for: tenants take turns with statements that may take long. */
  readonly tenantOf?: (input: Input) => string;
  /**
   * Whether it returns no row unless its transaction has locked a row before, so that `commit` can be sent together with
   * it. PostgreSQL only.
   */
  readonly needsTransaction?: boolean;
  /** Whether it fails with `AnswerTooLarge` if it returns too much. The caller then runs a bounded statement instead. */
  readonly failsIfLarge?: boolean;
  /**
   * Whether its rows are read one by one until the texts of their first column would exceed the size of an answer. The
   * row that would exceed it is the last one, with null for its text. SQLite only.
   */
  readonly endsIfLarge?: boolean;
}

/** A row as a list of columns, in the order of the statement. */
export type ColumnValues = readonly unknown[];

/** Where statements run: outside a transaction, or inside one. */
export interface Session {
  query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]>;
}

/** An open transaction. */
export interface Transaction extends Session {
  /**
   * Runs the last statement of the transaction, which returns a row. On PostgreSQL the transaction ends with it, which
   * saves a round trip, unless it is a part under a savepoint.
   */
  queryLast<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]>;
  /** Runs `work` under a savepoint: if it throws, its changes are rolled back and the transaction continues. */
  nested<T>(work: (part: Transaction) => Promise<T>): Promise<T>;
}

export interface Database extends Session {
  /** Whether a statement crosses a network, so that one statement for several requests is worthwhile. */
  readonly isRemote: boolean;
  /**
   * Runs one statement that writes, as a transaction of its own. Its rows are returned after the commit is on disk.
   */
  execute<Input>(
    statement: Statement<Input>,
    input: Input,
    options?: TransactionOptions,
  ): Promise<readonly ColumnValues[]>;
  /**
   * Runs `work` in a transaction. Its result is returned after the commit is on disk; if it throws, the transaction is
   * rolled back.
   */
  transaction<T>(work: (session: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Reads many rows at the speed of their reader, apart from all other statements: on a thread (SQLite) or a connection
   * (PostgreSQL) of its own. Each stream holds a snapshot of the database until it is closed.
   */
  stream<Input>(statements: StreamStatements<Input>, input: Input): Promise<RowStream>;
  /**
   * Receives notifications of a channel, which processes send each other through the database. Absent if the database
   * has none.
   */
  listen?(channel: string, listener: NotificationListener): Promise<EndListening>;
  /**
   * Starts to watch whether the database can be used. An outage is reported once; requests are refused until it is over.
   *
   * @param countRefused called for each slow read that is refused because too many are waiting, or that times out
   */
  watch(report: Report, countRefused: CountRefused): void;
  /** Runs SQL text that is not prepared, such as settings. */
  run(sql: string): Promise<void>;
  /** Runs `work` without time limit and apart from requests: a migration. */
  maintain<T>(work: (session: Maintenance) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface TransactionOptions {
  /**
   * Whether only a fault of the database can make the work fail after its first statement that writes. SQLite then needs
   * no savepoint for it: a statement that fails leaves nothing behind.
   */
  readonly isSingleWrite?: boolean;
  /**
   * Whether the failure of the machine, though not of the process, may undo the commit. SQLite then does not wait for the
   * disk.
   */
  readonly mayBeLost?: boolean;
  /** The tenant that writes; undefined for the server itself. On PostgreSQL, tenants take turns. */
  readonly tenantId?: string;
}

export interface NotificationListener {
  onNotification(payload: string): void;
  /** Called when no more notifications will arrive: the connection is lost or closed. */
  onEnd(): void;
}

export type EndListening = () => void;

/** A session without time limits. */
export interface Maintenance extends Session {
  transaction<T>(work: (session: Transaction) => Promise<T>): Promise<T>;
  /** Runs SQL text, outside a transaction. */
  run(sql: string): Promise<void>;
}

export interface StoreOptions {
  /** Time limit of reads that may read many rows: searches, numbered pages, nested lists. */
  readonly slowReadMs: number;
}

export const standardOptions: StoreOptions = { slowReadMs: 10_000 };

/** Time limit of the work of one transaction: a hook that never returns must not block all other writes. */
const workTimeoutMs = 10_000;

/**
 * Runs the work of one transaction. When it ends or times out, its session refuses further statements: an operation that
 * a hook did not await cannot run in the transaction of another request.
 */
export async function workWithin<T>(
  session: Transaction,
  work: (session: Transaction) => Promise<T>,
  limitMs: number = workTimeoutMs,
): Promise<T> {
  let hasEnded = false;
  const requireOpen = (): void => {
    if (hasEnded)
      throw new Error(
        "an operation started after its transaction had ended; await every operation of a hook",
      );
  };
  const guard = (unguarded: Transaction): Transaction => ({
    query(statement, input) {
      requireOpen();
      return unguarded.query(statement, input);
    },
    queryLast(statement, input) {
      requireOpen();
      return unguarded.queryLast(statement, input);
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
    hasEnded = true;
    clearTimeout(timer);
  }
}

/** A write violated a constraint. */
export class ConstraintError extends Error {
  override readonly name = "ConstraintError";
  readonly kind: "unique" | "reference";
  /** The columns of the unique index; empty if the database does not name them. */
  readonly columns: readonly string[];

  constructor(kind: "unique" | "reference", columns: readonly string[], cause: unknown) {
    super(`${kind} constraint`, { cause });
    this.kind = kind;
    this.columns = columns;
  }
}

/** A table or column that the declarations need does not exist. */
export class MissingSchema extends OperatorError {
  constructor(cause: Error) {
    super(`the database does not match the declarations (${cause.message}); run portico migrate`, { cause });
  }
}
