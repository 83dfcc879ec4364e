// What the statements of a recorded read are, when they run, and how the database runs them.

import { maxAnswerBytes, quickAnswerBytes } from "../../query/answer-size.ts";
import type { Read, ReadOne } from "../../query/read.ts";
import type { BoundedInput } from "../compile/bounded-read.ts";
import { getScanReason, type ScanReason, scanReason } from "../compile/may-scan.ts";
import type { Statement } from "../database.ts";
import { missingIndex } from "./missing-index.ts";
import type { PlanDatabase } from "./plan-database.ts";
import { isList, type RecordedRead } from "./recorded-reads.ts";

export interface ExplainedStatement {
  /** The name of the resource. */
  readonly resource: string;
  /** When it runs, if not for every such request. */
  readonly when: string | null;
  /** Slow reads run apart from others, few at a time. */
  readonly speed: "quick" | "slow";
  /** Why it is a slow read. */
  readonly reason: string | null;
  /** The indexes that its plan reads. */
  readonly indexes: readonly string[];
  /** A list for `indexes` of the resource that makes it a quick read. */
  readonly declare: readonly string[] | null;
  readonly sql: string;
  /** What each bound value is. */
  readonly parameters: readonly string[];
  readonly plan: readonly string[];
}

const reasons: Readonly<Record<ScanReason, string>> = {
  rows: "it may return more than 1,000 rows, nested rows included",
  nested: "it has more than 50 nested rows, lists and counts",
  "filtered lists": "its nested lists have conditions",
  counts: "it counts rows that refer to others",
  search: "it searches",
  count: "it counts the rows before the page",
  "no index": "no index begins with what it filters by and continues with its sort",
};

/**
 * The statements of a read, in the order in which they run.
 * @param when when it runs, if not for every such request
 * @param isRun whether the statements are run, so that the plans have times
 */
export async function explainRead(
  database: PlanDatabase,
  { statements, input }: RecordedRead,
  when: string | null,
  isRun: boolean,
): Promise<ExplainedStatement[]> {
  const { read } = input;
  const reason = isList(read) ? scanReason(read) : getScanReason(read);
  const explain = async (
    statement: Statement<BoundedInput<Read | ReadOne>>,
    maxBytes: number,
    when: string | null,
  ): Promise<ExplainedStatement> => {
    const { lines, indexes } = await database.explain(statement, { ...input, maxBytes }, isRun);
    const isSlow = statement.mayScan === true;
    const declare = reason === "no index" && isList(read) ? missingIndex(read) : undefined;
    return {
      resource: read.resource.name,
      when,
      speed: isSlow ? "slow" : "quick",
      reason: isSlow ? (reason ? reasons[reason] : "its answer is large") : null,
      indexes,
      declare: declare ?? null,
      sql: statement.sql,
      parameters: statement.meanings ?? [],
      plan: lines,
    };
  };
  const { quick, large, canBeLarge } = statements;
  if (!quick) return [await explain(large, maxAnswerBytes, when)];
  const first = await explain(quick, quickAnswerBytes, when);
  if (!canBeLarge) return [first];
  const isLarge = `the answer is larger than ${quick.mayScan ? "16" : "1"} MiB`;
  return [first, await explain(large, maxAnswerBytes, isLarge)];
}
