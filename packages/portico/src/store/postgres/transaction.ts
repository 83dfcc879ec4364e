// One transaction on a connection that nobody else uses. Not with the driver's own `begin`: after the connection is
// lost, that goes on with the work, whose statements may then run on the next connection, outside any transaction.

import { type ColumnValues, type Statement, type Transaction, workWithin } from "../database.ts";
import type { Connection } from "./connection.ts";
import { codeOf, unknownOutcome } from "./failures.ts";

/** Runs a statement on the connection of the transaction. */
export type Ask = <Input>(statement: Statement<Input>, input: Input) => Promise<readonly ColumnValues[]>;

/** @throws Problem that says so where the connection was lost before the server confirmed the commit */
export async function transact<T>(
  connection: Connection,
  ask: Ask,
  work: (session: Transaction) => Promise<T>,
  limitMs?: number,
): Promise<T> {
  await connection.run("begin");
  const part = new Part(connection, ask);
  let result: T;
  try {
    result = await workWithin(part, work, limitMs);
    part.requireWhole();
  } catch (error) {
    // Where this fails, the connection is lost, and the server rolls back by itself.
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

/** The transaction, or what of it stands under a savepoint. A statement that failed in it fails all of it. */
class Part implements Transaction {
  readonly #connection: Connection;
  readonly #ask: Ask;
  readonly #depth: number;
  readonly #savepoint: string;
  #failure: { readonly error: unknown } | undefined;

  constructor(connection: Connection, ask: Ask, depth = 0) {
    this.#connection = connection;
    this.#ask = ask;
    this.#depth = depth;
    this.#savepoint = `part_${depth}`;
  }

  async query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    try {
      return await this.#ask(statement, input);
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }

  async nested<T>(work: (part: Transaction) => Promise<T>): Promise<T> {
    const inner = new Part(this.#connection, this.#ask, this.#depth + 1);
    await this.#run(`savepoint ${this.#savepoint}`);
    try {
      const result = await work(inner);
      inner.requireWhole();
      return result;
    } catch (error) {
      await this.#run(`rollback to ${this.#savepoint}`);
      throw inner.causeOf(error);
    }
  }

  /** @throws the error of a statement that failed, though nobody passed it on */
  requireWhole(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /** After a statement has failed, all that follow do so for that reason alone (`in_failed_sql_transaction`). */
  causeOf(error: unknown): unknown {
    return this.#failure && codeOf(error) === "25P02" ? this.#failure.error : error;
  }

  async #run(text: string): Promise<void> {
    try {
      await this.#connection.run(text);
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }
}
