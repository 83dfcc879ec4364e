// The steps of a migration.

import { type RawBuilder, sql } from "kysely";
import { OperatorError } from "../../errors.ts";
import { ConstraintError, type Session } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { compile } from "../statement.ts";

/** What a step does, for the reader of a plan. */
export type StepKind =
  | "table"
  | "column"
  | "reference"
  | "index"
  | "search"
  | "fill"
  | "count"
  | "required"
  | "drop";

/** A step of a migration: an SQL statement, or work on rows that SQL alone cannot do. */
export interface Step {
  readonly kind: StepKind;
  readonly text: string;
  /** Whether it runs after the transaction of the migration, on its own. */
  readonly isApart: boolean;
  /** Whether it takes a lock that requests wait for. Apart from the transaction, it has one of its own then. */
  readonly isLocking: boolean;
  /** Whether it only removes an index that the declarations do not need. */
  readonly isRemoval: boolean;
  /** Whether it waits until no process of an earlier version is running, which could need what it removes. */
  readonly isContraction: boolean;
  /** The index that it creates or drops on an existing table. */
  readonly index: { readonly name: string; readonly table: string } | undefined;
  run(session: Session, inTransaction: InTransaction, report: ReportProgress): Promise<unknown>;
}

/** Runs work in a transaction: that of the migration, or one of its own for a step that runs after it. */
export type InTransaction = <T>(work: (session: Session) => Promise<T>) => Promise<T>;

/** Reports the progress of a step, after each batch of rows. */
export type ReportProgress = (done: number, total: number) => void;

/** The SQL texts of steps. */
export function textsOf(steps: readonly Step[]): string[] {
  return steps.map((step) => step.text);
}

export interface StepOptions extends Partial<Omit<Step, "text" | "kind" | "run">> {
  /** Removes the remains of the step if it fails. */
  readonly undo?: RawBuilder<unknown>;
}

export function sqlStep(
  dialect: Dialect,
  kind: StepKind,
  query: RawBuilder<unknown>,
  { undo, ...options }: StepOptions = {},
): Step {
  const { sql: text } = compile(dialect.builder, query);
  const undoText = undo && compile(dialect.builder, undo).sql;
  return { ...standard, ...options, kind, text, run: (session) => runSql(session, text, undoText) };
}

/** @param text an SQL comment that says what the step does */
export function rowStep(kind: StepKind, text: string, run: Step["run"], options: Partial<Step> = {}): Step {
  return { ...standard, ...options, kind, text: `-- ${text}`, run };
}

const standard = {
  isApart: false,
  isLocking: false,
  isRemoval: false,
  isContraction: false,
  index: undefined,
} as const;

async function runSql(session: Session, text: string, undo: string | undefined): Promise<void> {
  try {
    await runText(session, text);
  } catch (error) {
    if (undo !== undefined) await runText(session, undo);
    if (!(error instanceof ConstraintError)) throw error;
    const shared = error.columns.filter((column) => column !== "tenant_no").join(" and ");
    throw new OperatorError(
      `several rows have the same ${shared}; change them first. This statement failed: ${text}`,
    );
  }
}

async function runText(session: Session, text: string): Promise<void> {
  await session.query({ sql: text, bind: () => [] }, undefined);
}

/** Whether a table has a row that meets a condition. */
export async function hasRow(
  session: Session,
  dialect: Dialect,
  table: string,
  condition: RawBuilder<unknown> = sql`true`,
): Promise<boolean> {
  const query = compile(dialect.builder, sql`select 1 from ${sql.table(table)} where ${condition} limit 1`);
  return (await session.query(query, undefined)).length > 0;
}
