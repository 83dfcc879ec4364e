// How many rows a page reads.

import type { Read } from "../../query/read.ts";
import type { Dialect } from "../dialect.ts";
import { parameter } from "../statement.ts";
import type { Expression, ReadInput } from "./input.ts";

/** The number of rows to read: with a cursor one more than the page, to see whether there are more. */
export function rowLimit({ page }: Pick<Read, "page">): number {
  return page.style === "cursor" ? page.limit + 1 : page.limit;
}

/** `rowLimit` as SQL. */
export function limitOf(dialect: Dialect, read: Read): Expression {
  return dialect.limit(
    rowLimit(read),
    parameter(
      (input: ReadInput<Read>) => rowLimit(input.read),
      read.page.style === "cursor" ? "limit + 1" : "limit",
    ),
  );
}
