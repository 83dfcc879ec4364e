// The interface of a database: it runs compiled statements, alone or in a transaction.

import { OperatorError } from "../errors.ts";
import type { Report } from "../lib/report.ts";
import type { RowStream, StreamOptions, StreamStatements } from "./row-stream.ts";
import type { CountRefused } from "./slow-read-queue.ts";

/** SQL text, and a function that reads the values of its parameters from the input of a call. */
export interface Statement<Input> {
  readonly sql: string;
  readonly bind: (input: Input) => unknown[];
  /** What each of the bound values is, for `portico explain`. */
  readonly meanings?: readonly string[];
  /** The table into which it inserts a row that is searched. SQLite only. */
  readonly searchedTable?: string;
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
  /**
   * The result of an operation, to be returned to code of a project: the transaction fails if the code does not await it.
   * Absent if the work has no time limit, which is work of the server itself.
   */
  awaited?<T>(operation: Promise<T>): Promise<T>;
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
   * The same, unless the statement waits for a lock or conflicts with another transaction: then it is undone and undefined
   * returned. PostgreSQL only.
   */
  tryToExecute?<Input>(
    statement: Statement<Input>,
    input: Input,
  ): Promise<readonly ColumnValues[] | undefined>;
  /**
   * Runs `work` in a transaction. Its result is returned after the commit is on disk; if it throws, the transaction is
   * rolled back.
   */
  transaction<T>(work: (session: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Reads many rows at the speed of their reader, apart from all other statements: on a thread (SQLite) or a connection
   * (PostgreSQL) of its own. Each stream holds a snapshot of the database until it is closed.
   */
  stream<Input>(
    statements: StreamStatements<Input>,
    input: Input,
    options: Pick<StreamOptions, "csv" | "signal">,
  ): Promise<RowStream>;
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
   * Whether the work shares its transaction with no other, as on PostgreSQL. On SQLite it otherwise shares one under a
   * savepoint, which makes many writes slower than a commit of their own.
   */
  readonly isAlone?: boolean;
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
