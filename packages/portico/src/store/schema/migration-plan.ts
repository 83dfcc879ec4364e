// A plan of a migration, to be reviewed before it is applied. Fingerprints of the database and of the declarations show
// whether either has changed since.

import { hash } from "node:crypto";
import { OperatorError } from "../../errors.ts";
import { isOfResource } from "./resource-tables.ts";
import type { Step, StepKind } from "./step.ts";
import type { Column, Table } from "./table.ts";
import type { ExistingTable } from "./tables.ts";

export interface PlannedStep {
  readonly kind: StepKind;
  /** An SQL statement, or a comment for work on rows that SQL alone cannot do. */
  readonly sql: string;
  /** Whether it deletes values or rows. */
  readonly losesData: boolean;
}

export interface Fingerprints {
  readonly database: string;
  readonly declarations: string;
}

export interface MigrationPlan {
  readonly fingerprints: Fingerprints;
  readonly steps: readonly PlannedStep[];
}

export function planOf(
  tables: readonly Table[],
  existing: ReadonlyMap<string, ExistingTable>,
  steps: readonly Step[],
): MigrationPlan {
  return {
    fingerprints: {
      database: databaseFingerprint(tables, existing),
      declarations: fingerprint(tables.map(ofTable)),
    },
    steps: steps.map(({ kind, text: sql }) => ({ kind, sql, losesData: kind === "drop" })),
  };
}

/**
 * @param isContinued whether some steps of the plan are done already
 * @throws OperatorError if the plan that was reviewed is not the present one
 */
export function requireUnchanged(
  reviewed: MigrationPlan,
  present: MigrationPlan,
  isContinued: boolean,
): void {
  for (const part of ["database", "declarations"] as const) {
    if (reviewed.fingerprints[part] === present.fingerprints[part]) continue;
    if (part === "database" && isContinued) continue;
    const changed = part === "database" ? "the schema of the database has" : "the declarations have";
    throw new OperatorError(`${changed} changed since the plan was made; make and review another one`);
  }
  const [expected, due] = [statementsOf(reviewed), statementsOf(present)];
  const isReviewed = isContinued
    ? due.every((text) => expected.includes(text) || isRepair(text, expected))
    : JSON.stringify(expected) === JSON.stringify(due);
  if (isReviewed) return;
  throw new OperatorError("the steps of the plan are not those of this version; make and review another one");
}

/** Rows that lack a value come and go while an earlier version serves, so steps that fill them do not count. */
function statementsOf({ steps }: MigrationPlan): string[] {
  return steps.filter(({ kind }) => kind !== "fill").map(({ sql }) => withoutTimes(sql));
}

/** Whether a statement drops an index whose creation, a step of the plan, was interrupted. */
function isRepair(text: string, expected: readonly string[]): boolean {
  const [, name] = /^drop index concurrently ("[^"]+")$/.exec(text) ?? [];
  return (
    name !== undefined && expected.some((each) => each.startsWith("create") && each.includes(` ${name} on `))
  );
}

/** Tells a plan from any other. */
export function planFingerprint(plan: MigrationPlan): string {
  return fingerprint([plan.fingerprints, plan.steps.map(({ sql }) => sql)]);
}

/** The default `now` or `today` of an added column is the time of the migration. */
function withoutTimes(text: string): string {
  return text.replaceAll(/'\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?'/g, "now");
}

function ofTable({ resource: _, columns, counters = [], ...table }: Table): unknown {
  return { ...table, columns: columns.map(ofColumn), counters: counters.map(({ name }) => name) };
}

function ofColumn({ fill, defaultValue, ...column }: Column): unknown {
  const value = fill?.attribute.fill;
  return {
    ...column,
    default: column.defaultsToNow ? "now" : defaultValue,
    fill: typeof value === "function" ? value.toString() : value,
  };
}

function databaseFingerprint(tables: readonly Table[], existing: ReadonlyMap<string, ExistingTable>): string {
  const declared = new Set(tables.map(({ name }) => name));
  const own = [...existing].filter(([name, table]) => declared.has(name) || isOfResource(table));
  return fingerprint(
    own
      .map(([name, { columns, references, counters, ...names }]) => [
        name,
        [...columns]
          .map(([column, { type, isNullable, hasDefault }]) => [column, type, isNullable, hasDefault])
          .sort(),
        [...references].sort(),
        [...counters].sort(),
        [names.indexes, names.brokenIndexes, names.searches].map((each) => [...each].sort()),
      ])
      .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
  );
}

function fingerprint(value: unknown): string {
  return hash("sha256", JSON.stringify(value), "hex");
}
