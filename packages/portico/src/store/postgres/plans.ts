// The plans of statements on PostgreSQL (`explain`).

import type { ColumnValues, Statement } from "../database.ts";
import { namesIn, PlanDatabase, type StatementPlan } from "../explain/plan-database.ts";
import { Connection } from "./connection.ts";
import { translateError } from "./failures.ts";

const closeTimeoutSeconds = 5;

export class PostgresPlans extends PlanDatabase {
  readonly isRemote = true;
  readonly #connection: Connection;

  /** @param timeoutMs time limit of a statement */
  constructor(url: string, timeoutMs: number) {
    super();
    this.#connection = new Connection(url, {
      default_transaction_read_only: "on",
      statement_timeout: timeoutMs,
    });
  }

  query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    return this.#run(statement.sql, statement.bind(input));
  }

  async explain<Input>(statement: Statement<Input>, input: Input, isRun: boolean): Promise<StatementPlan> {
    const options = isRun ? "(analyze, buffers)" : "";
    const rows = await this.#run(`explain ${options} ${statement.sql}`, statement.bind(input));
    const lines = rows.map(([line]) => String(line));
    return { lines, indexes: namesIn(lines, /Index (?:Only )?Scan (?:Backward )?(?:using|on) "?(\w+)/g) };
  }

  async #run(text: string, values: readonly unknown[]): Promise<readonly ColumnValues[]> {
    try {
      return await this.#connection.query(text, values, false);
    } catch (error) {
      throw translateError(error, false);
    }
  }

  async close(): Promise<void> {
    await this.#connection.close(closeTimeoutSeconds);
  }
}
