// Statements are built by Kysely once for each shape. A `Parameter` in a query reads its value from the input of a call,
// so the same compiled text serves every request.

import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from "kysely";
import { Problem } from "../errors.ts";
import type { Statement } from "./database.ts";

class Parameter<Input> {
  readonly read: (input: Input) => unknown;
  readonly meaning: string;
  constructor(read: (input: Input) => unknown, meaning: string) {
    this.read = read;
    this.meaning = meaning;
  }
}

/**
 * A parameter whose value is read from the input of a call. `` sql`id = ${parameter((read: ReadOne) => read.id, "id")}` ``
 *
 * @param meaning what the value is, for `portico explain`
 */
export function parameter<Input, Value = unknown>(
  read: (input: Input) => Value,
  meaning = "value",
): RawBuilder<Value> {
  return sql<Value>`${new Parameter(read, meaning)}`;
}

/** Any table and column: their names come from the model, which is validated at start. */
export type Tables = Record<string, Record<string, unknown>>;

export const sqliteBuilder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

export const postgresBuilder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

type StatementOptions<Input> = Pick<
  Statement<Input>,
  "mayScan" | "tenantOf" | "needsTransaction" | "searchedTable"
>;

/** Compiles a query. Its parameters are made by `parameter`; other values are bound as constants. */
export function compile<Input>(
  builder: Kysely<Tables>,
  query: RawBuilder<unknown>,
  options: StatementOptions<Input> = {},
): Statement<Input> {
  return statementOf(query.compile(builder), options);
}

/** SQLite allows this many in a statement, and PostgreSQL twice as many. */
const maxParameters = 32_766;

/** A compiled query as a statement. @throws Problem `validation_error` for too many parameters */
export function statementOf<Input>(
  { sql: text, parameters }: Pick<CompiledQuery, "sql" | "parameters">,
  { mayScan = false, tenantOf, needsTransaction, searchedTable }: StatementOptions<Input> = {},
): Statement<Input> {
  if (parameters.length > maxParameters)
    throw new Problem(
      "validation_error",
      "The request compares too many values. Select fewer nested rows, or filter by fewer values.",
    );
  const readers = parameters.map((value) =>
    value instanceof Parameter ? (value.read as (input: Input) => unknown) : () => value,
  );
  const bind = (input: Input): unknown[] => readers.map((read) => read(input));
  const meanings = parameters.map((value) => (value instanceof Parameter ? value.meaning : "constant"));
  return Object.freeze({
    ...{ sql: text, bind, meanings, mayScan },
    ...(tenantOf && { tenantOf }),
    ...(needsTransaction && { needsTransaction }),
    ...(searchedTable !== undefined && { searchedTable }),
  });
}
