// Migrates a database to the schema of the model. Additions are made automatically; a change that could lose data is
// refused with an error that says how to make it by hand.

import { sql } from "kysely";
import type { Maintenance, Session } from "../database.ts";
import { refuseOldLayout } from "../layout/layout.ts";
import { postgresTables } from "../postgres/tables.ts";
import { sqliteTables } from "../sqlite/tables.ts";
import { compile } from "../statement.ts";
import type { Store } from "../store.ts";
import { type DropRequest, dropsOf } from "./drop.ts";
import { type MigrationPlan, planOf, requireUnchanged } from "./migration-plan.ts";
import { tableOn } from "./model-tables.ts";
import type { Planning } from "./planning.ts";
import { retryWhileLocked, runApart, withoutReferences } from "./run-steps.ts";
import { type InTransaction, type Step, sqlStep, textsOf } from "./step.ts";
import { searchStateTable, type Table } from "./table.ts";
import { tableSteps } from "./table-steps.ts";
import type { ExistingTable, TableDialect } from "./tables.ts";

export interface MigrationOptions {
  /** Whether nothing is changed. */
  readonly isDryRun?: boolean;
  /** Whether to drop what only processes of earlier versions need. */
  readonly isContraction?: boolean;
  /** Columns without a field that stay although a field of their type is added: `posts.title`. */
  readonly kept?: readonly string[];
  /** Columns and tables to drop. */
  readonly drops?: readonly DropRequest[];
  /** The plan that was reviewed: any other is refused. */
  readonly reviewed?: MigrationPlan;
  /** Called while a step works on rows. @param step what it does */
  readonly onProgress?: (step: string, done: number, total: number) => void;
}

/** What a migration did, or with `isDryRun` would do. */
export interface Migration {
  /** The SQL statements. */
  readonly statements: readonly string[];
  /** The indexes of existing tables that are created, dropped, or left for the contraction. */
  readonly indexes: readonly IndexChange[];
  readonly plan: MigrationPlan;
}

export interface IndexChange {
  readonly name: string;
  readonly table: string;
  readonly change: "created" | "dropped" | "unneeded";
  /** The size in bytes of an index that existed. */
  readonly size: number | undefined;
}

/**
 * Migrates the database to the schema of `tables`. Processes that serve the previous version keep working: the columns
 * that they read and write stay, the indexes that they read along stay until the contraction, and their requests wait for
 * locks only briefly.
 *
 * @throws OperatorError for a change that could lose data
 */
export async function migrate(
  store: Store,
  tables: readonly Table[],
  options: MigrationOptions = {},
): Promise<Migration> {
  const { isDryRun = false, isContraction = false } = options;
  const planned = await plan(store, tables, store.database, options);
  if (isDryRun || !planned.steps.some((step) => isDue(step, isContraction)))
    return describeSteps(store, store.database, planned, options);
  return store.database.maintain((session) => applySteps(store, tables, session, options));
}

function isDue(step: Step, isContraction: boolean): boolean {
  return isContraction || !step.isContraction;
}

/**
 * @param session sees the indexes that the steps will drop
 * @throws OperatorError if the steps are not those that were reviewed
 */
async function describeSteps(
  store: Store,
  session: Session,
  { tables, existing, steps }: Planned,
  { isContraction = false, reviewed }: MigrationOptions,
): Promise<Migration> {
  const due = steps.filter((step) => isDue(step, isContraction));
  const plan = planOf(tables, existing, due);
  if (reviewed) requireUnchanged(reviewed, plan);
  const ofIndexes = steps.filter((step) => step.index !== undefined);
  const removals = ofIndexes.filter(({ isRemoval }) => isRemoval).map(({ index }) => index!.name);
  const sizes = removals.length > 0 ? await tableDialect(store).indexSizes(session, removals) : undefined;
  const changeOf = (step: Step): IndexChange["change"] => {
    if (!step.isRemoval) return "created";
    return isDue(step, isContraction) ? "dropped" : "unneeded";
  };
  return {
    statements: textsOf(due),
    plan,
    indexes: ofIndexes.map((step) => ({
      ...step.index!,
      change: changeOf(step),
      size: sizes?.get(step.index!.name),
    })),
  };
}

/**
 * The pending schema changes for a process that serves `tables`. Additions of a newer version are ignored.
 *
 * @returns their SQL statements
 * @throws OperatorError if the tables cannot be served
 */
export async function pendingChanges(store: Store, tables: readonly Table[]): Promise<string[]> {
  const { steps } = await plan(store, tables, store.database, {}, true);
  return textsOf(steps.filter((step) => !step.isRemoval));
}

interface Planned {
  readonly tables: readonly Table[];
  readonly existing: ReadonlyMap<string, ExistingTable>;
  readonly steps: readonly Step[];
}

async function plan(
  store: Store,
  declared: readonly Table[],
  session: Session,
  { isContraction = false, kept = [], drops: requests = [] }: MigrationOptions,
  isServing = false,
): Promise<Planned> {
  const dialect = tableDialect(store);
  const existing = await dialect.existing(session);
  refuseOldLayout(existing);
  const tables = declared.map((table) => tableOn(store.dialect.name, table));
  const drops = dropsOf(existing, tables, requests);
  const planning: Planning = {
    ...{ store, session, tables: dialect, isServing, isContraction, drops },
    kept: new Set(kept),
  };
  const steps: Step[] = [];
  for (const table of tables) {
    const hasRecord = existing.has(searchStateTable(table.name));
    steps.push(...(await tableSteps(planning, table, existing.get(table.name), hasRecord)));
  }
  for (const table of tables) {
    const { added, checked } = dialect.addReferences(table, existing.get(table.name));
    steps.push(...added.map((query) => sqlStep(store.dialect, "reference", query)));
    steps.push(...checked.map((query) => sqlStep(store.dialect, "reference", query, { isApart: true })));
  }
  const dropped = drops.tables.map((name) => ({ name, existing: existing.get(name)! }));
  steps.push(...dialect.dropTables(dropped).map((query) => sqlStep(store.dialect, "drop", query)));
  return { tables, existing, steps };
}

async function applySteps(
  store: Store,
  tables: readonly Table[],
  session: Maintenance,
  options: MigrationOptions,
): Promise<Migration> {
  const { isContraction = false, onProgress } = options;
  const dialect = tableDialect(store);
  await dialect.lock(session);
  const { steps, migration } = await withoutReferences(dialect, session, () =>
    retryWhileLocked(dialect, () =>
      session.transaction(async (part) => {
        await dialect.limitLockWait(part);
        // Another process may have migrated while this one waited.
        const planned = await plan(store, tables, part, options);
        const migration = await describeSteps(store, part, planned, options);
        const steps = planned.steps.filter((step) => isDue(step, isContraction));
        const inTransaction: InTransaction = (work) => work(part);
        for (const step of steps) if (!step.isApart) await step.run(part, inTransaction, () => {});
        return { steps, migration };
      }),
    ),
  );
  for (const step of steps)
    if (step.isApart)
      await runApart(dialect, session, step, (done, total) => onProgress?.(step.text, done, total));
  return migration;
}

/** How many values and rows `--drop` deletes: a line for each column and table. @throws OperatorError as `migrate` */
export async function lossesOf(
  store: Store,
  tables: readonly Table[],
  requests: readonly DropRequest[],
): Promise<string[]> {
  const drops = dropsOf(await existingTables(store), tables, requests);
  const countOf = async (table: string, column?: string): Promise<number> => {
    const counted = column === undefined ? sql`*` : sql.ref(column);
    const query = compile(store.dialect.builder, sql`select count(${counted}) from ${sql.table(table)}`);
    return Number((await store.database.query(query, undefined))[0]![0]);
  };
  const losses: string[] = [];
  for (const [table, columns] of drops.columns)
    for (const column of columns)
      losses.push(`${await countOf(table, column)} values of the column ${table}.${column}`);
  for (const table of drops.tables) losses.push(`the table ${table} with ${await countOf(table)} rows`);
  return losses;
}

/** All tables of the database, by name. */
export function existingTables(store: Store): Promise<ReadonlyMap<string, ExistingTable>> {
  return tableDialect(store).existing(store.database);
}

/** How the tables of a store are read and changed. */
export function tableDialect({ dialect }: Store): TableDialect {
  return dialect.name === "sqlite" ? sqliteTables : postgresTables;
}
