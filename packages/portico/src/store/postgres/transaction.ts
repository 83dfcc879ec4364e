// A transaction on a connection of its own. It does not use `begin` of the driver, which continues the work after the
// connection is lost: its statements may then run on the next connection, outside any transaction.

import type { ColumnValues, Statement, Transaction } from "../database.ts";
import { workWithin } from "../transaction-work.ts";
import { Boundaries } from "./boundaries.ts";
import type { Connection } from "./connection.ts";
import { codeOf, unknownOutcome } from "./failures.ts";

/** Runs a statement on the connection of the transaction. */
export type QueryInTransaction = <Input>(
  statement: Statement<Input>,
  input: Input,
) => Promise<readonly ColumnValues[]>;

/** @throws Problem if the connection is lost before the server confirms the commit, so that the outcome is unknown */
export async function transact<T>(
  connection: Connection,
  query: QueryInTransaction,
  work: (session: Transaction) => Promise<T>,
  limitMs?: number,
): Promise<T> {
  const boundaries = new Boundaries(connection);
  const part = new Part(connection, boundaries, query);
  let result: T;
  try {
    result = await workWithin(part, work, limitMs);
    part.assertNoFailure();
  } catch (error) {
    part.end();
    const cause = part.causeOf(error);
    const mayHaveCommitted = boundaries.isEnding && !part.hasFailed;
    await boundaries.rollBack();
    throw mayHaveCommitted ? unknownOutcome(cause) : cause;
  }
  await boundaries.commit();
  return result;
}

/** The transaction, or a part of it under a savepoint. A failed statement fails the whole part. */
class Part implements Transaction {
  readonly #connection: Connection;
  readonly #boundaries: Boundaries;
  readonly #query: QueryInTransaction;
  readonly #depth: number;
  readonly #savepoint: string;
  readonly #outer: Part | undefined;
  #failure: { readonly error: unknown } | undefined;
  #hasEnded = false;

  constructor(connection: Connection, boundaries: Boundaries, query: QueryInTransaction, outer?: Part) {
    this.#connection = connection;
    this.#boundaries = boundaries;
    this.#query = query;
    this.#outer = outer;
    this.#depth = outer ? outer.#depth + 1 : 0;
    this.#savepoint = `part_${this.#depth}`;
  }

  /**
   * Refuses further statements. Work that timed out may still wait for one; what it sends afterwards, `rollback to` for
   * example, would fail the next transaction of the connection.
   */
  end(): void {
    this.#hasEnded = true;
  }

  get hasEnded(): boolean {
    return this.#hasEnded || (this.#outer?.hasEnded ?? false);
  }

  /** Whether a statement of it has failed. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    return this.#try(() => this.#boundaries.run(isRead(statement), () => this.#query(statement, input)));
  }

  queryLast<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    if (this.#outer) return this.query(statement, input);
    const needsTransaction = statement.needsTransaction === true;
    return this.#try(() => this.#boundaries.runLast(needsTransaction, () => this.#query(statement, input)));
  }

  async nested<T>(work: (part: Transaction) => Promise<T>): Promise<T> {
    const inner = new Part(this.#connection, this.#boundaries, this.#query, this);
    await this.#run(`savepoint ${this.#savepoint}`);
    try {
      const result = await work(inner);
      inner.assertNoFailure();
      return result;
    } catch (error) {
      await this.#run(`rollback to ${this.#savepoint}`);
      throw inner.causeOf(error);
    }
  }

  /** @throws the error of a failed statement, even if the work has caught it */
  assertNoFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /** The cause of a failure. After a failed statement, each later one fails with `in_failed_sql_transaction`. */
  causeOf(error: unknown): unknown {
    return this.#failure && codeOf(error) === "25P02" ? this.#failure.error : error;
  }

  async #run(text: string): Promise<void> {
    if (this.hasEnded) throw new Error("the transaction has ended");
    await this.#try(() => this.#boundaries.run(false, () => this.#connection.run(text)));
  }

  /** Runs a statement, and remembers whether it failed. */
  async #try<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }
}

/** Whether a statement certainly writes nothing; it may lock rows. */
function isRead({ sql }: Statement<never>): boolean {
  return sql.startsWith("select");
}
