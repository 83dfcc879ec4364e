// The plans of statements on SQLite (`explain query plan`, sqlite.org/eqp.html).

import type { SQLInputValue } from "node:sqlite";
import { OperatorError } from "../../errors.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { ColumnValues, Statement } from "../database.ts";
import { namesIn, PlanDatabase, type StatementPlan } from "../explain/plan-database.ts";
import { maxValueBytes, SqliteConnection } from "./connection.ts";

const busyTimeoutMs = 1_000;

export class SqlitePlans extends PlanDatabase {
  readonly isRemote = false;
  readonly #connection: SqliteConnection;

  /** @throws OperatorError if the file does not exist or cannot be read */
  constructor(file: string) {
    super();
    try {
      this.#connection = new SqliteConnection(file, busyTimeoutMs, maxValueBytes, true);
    } catch (error) {
      throw new OperatorError(
        `the database file ${file} cannot be read: ${errorMessage(error)}; see portico migrate`,
      );
    }
  }

  query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    return this.#connection.query(statement, input);
  }

  async explain<Input>(statement: Statement<Input>, input: Input, isRun: boolean): Promise<StatementPlan> {
    const values = statement.bind(input) as SQLInputValue[];
    const steps = this.#connection.all(`explain query plan ${statement.sql}`, values);
    const lines = indented(steps);
    if (isRun) {
      const started = performance.now();
      this.#connection.all(statement.sql, values);
      lines.push(`Execution Time: ${(performance.now() - started).toFixed(3)} ms`);
    }
    return { lines, indexes: namesIn(lines, /USING (?:COVERING )?INDEX (\S+)/g) };
  }

  async close(): Promise<void> {
    this.#connection.native.close();
  }
}

/** The steps of a plan, each below the step that it is a part of. A row has its id, that of its parent, and its text. */
function indented(steps: readonly ColumnValues[]): string[] {
  const depths = new Map<unknown, number>();
  return steps.map(([id, parent, , text]) => {
    const depth = (depths.get(parent) ?? -1) + 1;
    depths.set(id, depth);
    return `${"  ".repeat(depth)}${text}`;
  });
}
