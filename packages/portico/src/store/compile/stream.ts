// Many rows as one SQL statement that returns a row at a time, in their order.

import { sql } from "kysely";
import type { Read } from "../../query/read.ts";
import type { Dialect } from "../dialect.ts";
import type { StreamStatements } from "../row-stream.ts";
import { compile } from "../statement.ts";
import { orderBy } from "./columns.ts";
import { declaredGetBytes } from "./declared-size.ts";
import { type ReadInput, tenantOf } from "./input.ts";
import { pageColumns } from "./list.ts";
import { rowParts } from "./row.ts";

/** Rows in memory at once, at their declared maximum: fewer in each round trip to PostgreSQL would take more time than all else. */
const maxBytesInMemory = 32 * 1024 * 1024;
const maxRowsInMemory = 1_000;

/**
 * @param read its page is one with a cursor: statements read one row more than its limit
 * @param isCounted whether to compile the statement that counts the rows
 */
export function compileStream(
  dialect: Dialect,
  read: Read,
  isCounted: boolean,
): StreamStatements<ReadInput<Read>> {
  const { json, joins } = rowParts(dialect, "r", read.selection);
  // The rows are sorted already. SQLite keeps their order, but would sort them again; PostgreSQL notices that they are
  // sorted, but may lose their order when it joins others.
  const order = dialect.name === "sqlite" ? sql`limit -1` : sql`order by ${orderBy(dialect, "r", read.sort)}`;
  const declaredBytes = declaredGetBytes({ ...read, id: "" });
  return {
    rows: compile(dialect.builder, sql`select ${json} from ${pageColumns(dialect, read)}${joins} ${order}`, {
      tenantOf,
    }),
    count: isCounted
      ? compile(dialect.builder, sql`select count(*) from ${pageColumns(dialect, read)}`, { tenantOf })
      : undefined,
    maxRowsInMemory: Math.min(maxRowsInMemory, Math.max(1, Math.floor(maxBytesInMemory / declaredBytes))),
  };
}
