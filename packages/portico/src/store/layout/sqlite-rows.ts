// Queries of a SQLite file whose layout is changed.

import type { DatabaseSync, SQLInputValue } from "node:sqlite";

/** All rows, as lists of columns. */
export function rowsOf(database: DatabaseSync, text: string, ...values: SQLInputValue[]): unknown[][] {
  const statement = database.prepare(text);
  statement.setReturnArrays(true);
  return statement.all(...values) as unknown as unknown[][];
}
