// How the rows of a search are found, and the parts that the statements of all ways share.

import { sql } from "kysely";
import type { Read } from "../../query/read.ts";
import type { Dialect } from "../dialect.ts";
import { containedWord } from "../search/index-terms.ts";
import { parameter } from "../statement.ts";
import { columnsOf, sortedBy } from "./columns.ts";
import { all } from "./index-ranges.ts";
import type { Expression, ReadInput, SearchTerms } from "./input.ts";
import { isLongRow } from "./row-size.ts";

/** How the rows of a search are found. It is part of the shape of a statement. */
export interface SearchAccess {
  readonly kind: "walk" | "sorted" | "set" | "created" | "few";
  /** How many rows "walk" checks at most. PostgreSQL must know it when it plans. */
  readonly maxWalked: number;
  /** How many words are checked on each row. */
  readonly checkedWords: number;
  /** Whether it takes so little time that it need not run as a slow read. */
  readonly isQuick: boolean;
  /** Rows with longer texts are not read; without it, all are. */
  readonly maxRowBytes?: number;
}

/** The values of the column that says whether a page is complete. */
export const completeness = { incomplete: 0, complete: 1, hasLongRow: 2 } as const;

/** The parts of the statement of a search. */
export interface SearchParts {
  /** The `from` item of the page's rows, with the columns that their JSON is built from. */
  readonly rows: Expression;
  /**
   * A column of the result: a value of `completeness`.
   *
   * @param found the number of rows found, where the statement aggregates them: then only a page that is not full is
   *   examined
   */
  readonly isComplete: (found: Expression | undefined) => Expression;
  /** The column of `rows` that says whether a row was not read, as 0 or 1; undefined if all are read. */
  readonly isLong: Expression | undefined;
}

export type FoundRows = Pick<SearchParts, "rows" | "isComplete">;

/** It contains a space, so that it is not the name of a stored column. */
export const longRowColumn = "row is long";

export function pageColumnsOf(dialect: Dialect, read: Read, access: SearchAccess): Expression {
  const columns = sql.join(columnsOf("r", read.selection, sortedBy(read.sort)));
  const isLong = isLongRow(dialect, read.resource, access.maxRowBytes);
  return isLong
    ? sql`${columns}, case when ${isLong} then 1 else 0 end as ${sql.ref(longRowColumn)}`
    : columns;
}

/** The conditions that a row contains the checked words, or is too long to be read. */
export function wordChecks(dialect: Dialect, read: Read, access: SearchAccess): Expression[] {
  const checks = Array.from({ length: access.checkedWords }, (_, index) => {
    const word = searchParameter(({ search }) => containedWord(search.checked[index]!), "word of q");
    return sql`${dialect.positionIn(sql.ref("r.search_words"), word)} > 0`;
  });
  const isLong = isLongRow(dialect, read.resource, access.maxRowBytes);
  return isLong && checks.length > 0 ? [sql`(${isLong} or (${all(checks)}))`] : checks;
}

export function indexedWords(dialect: Dialect): Expression {
  return searchParameter(
    ({ tenantNo, search }) => dialect.searchText(tenantNo, search.indexed),
    "words of q",
  );
}

export function searchParameter(
  value: (input: { readonly tenantNo: number | null; readonly search: SearchTerms }) => unknown,
  meaning: string,
): Expression {
  // A statement of a search is bound to its terms.
  return parameter(({ tenantNo, search }: ReadInput<Read>) => value({ tenantNo, search: search! }), meaning);
}

export function table({ resource }: Read): Expression {
  return sql.table(resource.table);
}
