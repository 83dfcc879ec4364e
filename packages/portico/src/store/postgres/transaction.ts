// A transaction on a connection of its own. It does not use `begin` of the driver, which continues the work after the
// connection is lost: its statements may then run on the next connection, outside any transaction.

import { type ColumnValues, type Statement, type Transaction, workWithin } from "../database.ts";
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
  await connection.run("begin");
  const part = new Part(connection, query);
  let result: T;
  try {
    result = await workWithin(part, work, limitMs);
    part.assertNoFailure();
  } catch (error) {
    part.end();
    // If the rollback fails, the connection is closed and the server rolls back.
    await connection.run("rollback").catch(() => connection.destroy());
    throw part.causeOf(error);
  }
  try {
    await connection.run("commit");
  } catch (error) {
    throw connection.isLost ? unknownOutcome(error) : error;
  }
  return result;
}

/** The transaction, or a part of it under a savepoint. A failed statement fails the whole part. */
class Part implements Transaction {
  readonly #connection: Connection;
  readonly #query: QueryInTransaction;
  readonly #depth: number;
  readonly #savepoint: string;
  readonly #outer: Part | undefined;
  #failure: { readonly error: unknown } | undefined;
  #hasEnded = false;

  constructor(connection: Connection, query: QueryInTransaction, outer?: Part) {
    this.#connection = connection;
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

  async query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    try {
      return await this.#query(statement, input);
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }

  async nested<T>(work: (part: Transaction) => Promise<T>): Promise<T> {
    const inner = new Part(this.#connection, this.#query, this);
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
    try {
      await this.#connection.run(text);
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }
}
