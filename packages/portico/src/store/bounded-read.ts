// Reads with bounded answers. A read first runs with the bound of quick reads. If its answer is larger, it runs again as
// a slow read, with the bound of all answers. SQLite enforces the first bound by the length limit of its reading
// connection, and the second by reading row after row. PostgreSQL cuts both in the statement, for shapes whose answers
// can be large.

import { AnswerTooLarge, maxAnswerBytes, quickAnswerBytes } from "../query/answer-size.ts";
import type { Read, ReadOne } from "../query/read.ts";
import {
  type BoundedInput,
  compileBoundedGet,
  compileBoundedList,
  compileRows,
  compileWholeList,
  pageOfRows,
} from "./compile/bounded-read.ts";
import { declaredGetBytes, declaredListBytes } from "./compile/declared-size.ts";
import { compileGet } from "./compile/get.ts";
import type { ReadInput } from "./compile/input.ts";
import { compileList } from "./compile/list.ts";
import type { SearchAccess } from "./compile/search-access.ts";
import type { ColumnValues, Session, Statement } from "./database.ts";
import type { Dialect } from "./dialect.ts";

/** The statements of one shape of a read. */
export class BoundedRead<Plan> {
  /** The unbounded statement for reads within a transaction, which read single rows and ids. */
  readonly plain: Statement<ReadInput<Plan>>;
  /** The statement to try first; undefined for a shape that may be both slow and large. */
  readonly quick: Statement<BoundedInput<Plan>> | undefined;
  /** Whether an answer may be larger than that of a quick read, so that `large` may run after `quick`. */
  readonly canBeLarge: boolean;
  /** Converts the rows of `large` into the columns of the other statements. */
  readonly collect: (plan: Plan, rows: readonly ColumnValues[]) => readonly ColumnValues[];
  readonly #makeBounded: () => Statement<BoundedInput<Plan>>;
  #large: Statement<BoundedInput<Plan>> | undefined;

  constructor(
    { name }: Dialect,
    plain: Statement<ReadInput<Plan>>,
    declaredBytes: number,
    makeBounded: () => Statement<BoundedInput<Plan>>,
    {
      collect = (_plan, rows) => rows,
      makeQuick = makeBounded,
    }: {
      readonly collect?: BoundedRead<Plan>["collect"];
      /** Makes the statement to try first on PostgreSQL for a shape whose answers can be large. */
      readonly makeQuick?: () => Statement<BoundedInput<Plan>>;
    } = {},
  ) {
    this.plain = plain;
    this.collect = collect;
    this.canBeLarge = declaredBytes > quickAnswerBytes;
    this.#makeBounded = makeBounded;
    if (name === "sqlite") this.quick = { ...plain, failsIfLarge: true };
    else if (!this.canBeLarge) this.quick = plain;
    else if (!plain.mayScan) this.quick = makeQuick();
  }

  get large(): Statement<BoundedInput<Plan>> {
    this.#large ??= { ...this.#makeBounded(), mayScan: true };
    return this.#large;
  }
}

/** @param access how the rows of a search are found */
export function boundedList(dialect: Dialect, read: Read, access?: SearchAccess): BoundedRead<Read> {
  const plain = compileList(dialect, read, access);
  const bytes = declaredListBytes(read);
  if (dialect.name === "postgres")
    return new BoundedRead(dialect, plain, bytes, () => compileBoundedList(dialect, read, access), {
      makeQuick: () => compileWholeList(dialect, read, access),
    });
  return new BoundedRead<Read>(dialect, plain, bytes, () => compileRows(dialect, read, access), {
    collect: (plan, rows) => [pageOfRows(plan, rows)],
  });
}

export function boundedGet(dialect: Dialect, read: ReadOne): BoundedRead<ReadOne> {
  const plain = compileGet(dialect, read, undefined);
  return new BoundedRead(dialect, plain, declaredGetBytes(read), () =>
    dialect.name === "sqlite" ? { ...plain, failsIfLarge: true } : compileBoundedGet(dialect, read),
  );
}

/**
 * Runs the statements of a read.
 *
 * @param isWhole whether the quick statement returned the whole answer
 * @returns the rows of the statement that returned it
 */
export type RunRead = <Plan>(
  statements: BoundedRead<Plan>,
  input: ReadInput<Plan>,
  database: Session,
  isWhole: (rows: readonly ColumnValues[]) => boolean,
) => Promise<readonly ColumnValues[]>;

export async function readBounded<Plan>(
  statements: BoundedRead<Plan>,
  input: ReadInput<Plan>,
  database: Session,
  isWhole: (rows: readonly ColumnValues[]) => boolean,
): Promise<readonly ColumnValues[]> {
  const { quick } = statements;
  if (quick) {
    try {
      const rows = await database.query(quick, { ...input, maxBytes: quickAnswerBytes });
      if (isWhole(rows)) return rows;
    } catch (error) {
      if (!(error instanceof AnswerTooLarge)) throw error;
    }
  }
  const rows = await database.query(statements.large, { ...input, maxBytes: maxAnswerBytes });
  return statements.collect(input.read, rows);
}

/** Whether a read by id returned the text of the row, or no row. */
export function isWholeRow([row]: readonly ColumnValues[]): boolean {
  return row?.[0] !== null;
}
