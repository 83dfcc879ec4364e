// A database that is only read, and that explains how it would run a statement.

import type { ColumnValues, Database, Statement } from "../database.ts";

/** The plan of a statement, as the database prints it. */
export interface StatementPlan {
  readonly lines: readonly string[];
  /** The indexes that it reads, in the order of the plan. */
  readonly indexes: readonly string[];
}

export abstract class PlanDatabase implements Database {
  abstract readonly isRemote: boolean;
  abstract query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]>;
  /** @param isRun whether the statement is run, so that the plan has times */
  abstract explain<Input>(statement: Statement<Input>, input: Input, isRun: boolean): Promise<StatementPlan>;
  abstract close(): Promise<void>;

  watch(): void {}

  async execute(): Promise<never> {
    throw isOnlyRead();
  }

  async transaction(): Promise<never> {
    throw isOnlyRead();
  }

  async stream(): Promise<never> {
    throw isOnlyRead();
  }

  async run(): Promise<never> {
    throw isOnlyRead();
  }

  async maintain(): Promise<never> {
    throw isOnlyRead();
  }
}

function isOnlyRead(): Error {
  return new Error("this database is opened for reading only");
}

/** The names that a pattern captures in the lines of a plan, each once. */
export function namesIn(lines: readonly string[], pattern: RegExp): string[] {
  return [...new Set(lines.flatMap((line) => [...line.matchAll(pattern)].map(([, name]) => name!)))];
}
