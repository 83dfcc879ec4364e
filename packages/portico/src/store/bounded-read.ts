// Reads whose answers are bounded. What is small is read like everything else. What turns out larger is read once more,
// beside other requests, and bounded: SQLite fails at the length of its main connection, and then returns row after row
// until they are too many; PostgreSQL leaves out what exceeds the bound, in statements for shapes that can be large.

import { AnswerTooLarge, maxAnswerBytes, quickAnswerBytes } from "../query/answer-size.ts";
import type { Read, ReadOne } from "../query/read.ts";
import {
  type BoundedInput,
  compileBoundedGet,
  compileBoundedList,
  compileRows,
  pageOfRows,
} from "./compile/bounded-read.ts";
import { declaredGetBytes, declaredListBytes } from "./compile/declared-size.ts";
import { compileGet } from "./compile/get.ts";
import type { ReadInput } from "./compile/input.ts";
import { compileList } from "./compile/list.ts";
import type { ColumnValues, Session, Statement } from "./database.ts";
import type { Dialect } from "./dialect.ts";

/** The statements of one shape. */
export class BoundedRead<Plan> {
  /** Returns everything, in transactions: they read rows one by one, and ids. */
  readonly plain: Statement<ReadInput<Plan>>;
  /** What is tried first; undefined for what may take long and be large. */
  readonly quick: Statement<BoundedInput<Plan>> | undefined;
  /** What the large one returns, in the columns of the others. */
  readonly collected: (plan: Plan, rows: readonly ColumnValues[]) => readonly ColumnValues[];
  readonly #makeBounded: () => Statement<BoundedInput<Plan>>;
  #large: Statement<BoundedInput<Plan>> | undefined;

  constructor(
    { name }: Dialect,
    plain: Statement<ReadInput<Plan>>,
    declaredBytes: number,
    makeBounded: () => Statement<BoundedInput<Plan>>,
    collected: BoundedRead<Plan>["collected"] = (_plan, rows) => rows,
  ) {
    this.plain = plain;
    this.collected = collected;
    this.#makeBounded = makeBounded;
    if (name === "sqlite") this.quick = { ...plain, failsIfLarge: true };
    else if (declaredBytes <= quickAnswerBytes) this.quick = plain;
    else if (!plain.mayScan) this.quick = makeBounded();
  }

  get large(): Statement<BoundedInput<Plan>> {
    this.#large ??= { ...this.#makeBounded(), mayScan: true };
    return this.#large;
  }
}

export function boundedList(dialect: Dialect, read: Read): BoundedRead<Read> {
  const plain = compileList(dialect, read);
  const bytes = declaredListBytes(read);
  if (dialect.name === "postgres")
    return new BoundedRead(dialect, plain, bytes, () => compileBoundedList(dialect, read));
  return new BoundedRead<Read>(
    dialect,
    plain,
    bytes,
    () => compileRows(dialect, read),
    (asked, rows) => [pageOfRows(asked, rows)],
  );
}

export function boundedGet(dialect: Dialect, read: ReadOne): BoundedRead<ReadOne> {
  const plain = compileGet(dialect, read, undefined);
  return new BoundedRead(dialect, plain, declaredGetBytes(read), () =>
    dialect.name === "sqlite" ? { ...plain, failsIfLarge: true } : compileBoundedGet(dialect, read),
  );
}

/** @param isWhole whether nothing was left out of what was read quickly */
export async function readBounded<Plan>(
  statements: BoundedRead<Plan>,
  { tenantId, read }: ReadInput<Plan>,
  database: Session,
  isWhole: (rows: readonly ColumnValues[]) => boolean,
): Promise<readonly ColumnValues[]> {
  const { quick } = statements;
  if (quick) {
    try {
      const rows = await database.query(quick, { tenantId, read, maxBytes: quickAnswerBytes });
      if (isWhole(rows)) return rows;
    } catch (error) {
      if (!(error instanceof AnswerTooLarge)) throw error;
    }
  }
  const rows = await database.query(statements.large, { tenantId, read, maxBytes: maxAnswerBytes });
  return statements.collected(read, rows);
}

/** Of a row by its id: there is none, or its text is there. */
export function isWholeRow([row]: readonly ColumnValues[]): boolean {
  return row?.[0] !== null;
}
