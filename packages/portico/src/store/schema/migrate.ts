// Migrates a database to the schema of the model. Additions are made automatically; a change that could lose data is
// refused with an error that says how to make it by hand.

import { isUnavailable, OperatorError } from "../../errors.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { Maintenance, Session } from "../database.ts";
import { refuseOldLayout } from "../layout/layout.ts";
import type { Store } from "../store.ts";
import { counterSteps } from "./counter-steps.ts";
import { type DropRequest, dropsOf } from "./drop.ts";
import { elementSteps } from "./element-steps.ts";
import { type MigrationPlan, planFingerprint, planOf, requireUnchanged } from "./migration-plan.ts";
import { deleteRecord, findRecord, remainingDrops, writeRecord } from "./migration-record.ts";
import { tableOn } from "./model-tables.ts";
import type { Planning } from "./planning.ts";
import { retryIfChanged, retryWhileLocked, runApart, withoutReferences } from "./run-steps.ts";
import { type InTransaction, type Step, sqlStep, textsOf } from "./step.ts";
import { migrationTable, searchStateTable, type Table } from "./table.ts";
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
  /** Further work, which an interrupted migration repeats. */
  readonly complete?: () => Promise<void>;
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
  const planned = await retryIfChanged(() => plan(store, tables, store.database, options));
  const isDone = !planned.isContinued && !planned.steps.some((step) => isDue(step, isContraction));
  if (isDryRun || isDone) {
    const migration = await describeSteps(store, store.database, planned, options);
    if (!isDryRun) await options.complete?.();
    return migration;
  }
  return store.database.maintain(async (session) => {
    const unlock = await (await tableDialect(store)).lock(session);
    try {
      return await applySteps(store, tables, session, options);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      // Such as a full disk.
      const reason = errorMessage(error instanceof Error ? (error.cause ?? error) : error);
      throw new OperatorError(
        `the database refused a step: ${reason}. Migrate again: the migration continues where it stopped`,
        { cause: error },
      );
    } finally {
      unlock();
    }
  });
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
  { tables, existing, steps, isContinued }: Planned,
  { isContraction = false, reviewed }: MigrationOptions,
): Promise<Migration> {
  const due = steps.filter((step) => isDue(step, isContraction));
  const plan = planOf(tables, existing, due);
  if (reviewed) requireUnchanged(reviewed, plan, isContinued);
  const ofIndexes = steps.filter((step) => step.index !== undefined);
  const removals = ofIndexes.filter(({ isRemoval }) => isRemoval).map(({ index }) => index!.name);
  const sizes =
    removals.length > 0 ? await (await tableDialect(store)).indexSizes(session, removals) : undefined;
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
  const { steps } = await retryIfChanged(() => plan(store, tables, store.database, {}, true));
  return textsOf(steps.filter((step) => !step.isRemoval));
}

interface Planned {
  readonly tables: readonly Table[];
  readonly existing: ReadonlyMap<string, ExistingTable>;
  readonly steps: readonly Step[];
  /** Whether it continues a migration that was interrupted. */
  readonly isContinued: boolean;
}

async function plan(
  store: Store,
  declared: readonly Table[],
  session: Session,
  { isContraction = false, kept = [], drops: requests = [], reviewed }: MigrationOptions,
  isServing = false,
): Promise<Planned> {
  const dialect = await tableDialect(store);
  const existing = await dialect.existing(session);
  refuseOldLayout(store.dialect.name, existing, declared);
  const tables = declared.map((table) => tableOn(store.dialect.name, table));
  const record = await findRecord(store, session, existing);
  const remaining = remainingDrops(existing, record, requests);
  const drops = dropsOf(existing, tables, remaining);
  const planning: Planning = {
    ...{ store, session, tables: dialect, isServing, isContraction, drops },
    kept: new Set(kept),
  };
  const steps: Step[] = [];
  const isRebuilt = (name: string): boolean => {
    const [table, found] = [tables.find((each) => each.name === name), existing.get(name)];
    if (!table || !found) return false;
    return dialect.rebuild(table, [], found, drops.columns.get(name) ?? new Set()) !== undefined;
  };
  const counters = counterSteps(planning, tables, existing, isRebuilt);
  steps.push(...counters.first);
  const elements = tables.map((table) => elementSteps(planning, table, existing));
  steps.push(...elements.flatMap(({ first }) => first));
  for (const table of tables) {
    const hasRecord = existing.has(searchStateTable(table.name));
    steps.push(...(await tableSteps(planning, table, existing.get(table.name), hasRecord)));
  }
  steps.push(...elements.flatMap(({ last }) => last), ...counters.last);
  for (const table of tables) {
    const { added, checked } = dialect.addReferences(table, existing.get(table.name));
    steps.push(...added.map((query) => sqlStep(store.dialect, "reference", query)));
    steps.push(...checked.map((query) => sqlStep(store.dialect, "reference", query, { isApart: true })));
  }
  const dropped = drops.tables.map((name) => ({ name, existing: existing.get(name)! }));
  steps.push(...dialect.dropTables(dropped).map((query) => sqlStep(store.dialect, "drop", query)));
  const isSamePlan = record !== undefined && record.plan === (reviewed && planFingerprint(reviewed));
  const isContinued = isSamePlan && (reviewed !== undefined || remaining.length < requests.length);
  return { tables, existing, steps, isContinued };
}

async function applySteps(
  store: Store,
  tables: readonly Table[],
  session: Maintenance,
  options: MigrationOptions,
): Promise<Migration> {
  const { isContraction = false, onProgress, drops = [], reviewed } = options;
  const dialect = await tableDialect(store);
  const { steps, migration, isRecorded } = await withoutReferences(dialect, session, () =>
    retryWhileLocked(dialect, () =>
      session.transaction(async (part) => {
        await dialect.limitLockWait(part);
        // Another process may have migrated while this one waited.
        const planned = await plan(store, tables, part, options);
        const migration = await describeSteps(store, part, planned, options);
        const steps = planned.steps.filter((step) => isDue(step, isContraction));
        const inTransaction: InTransaction = (work) => work(part);
        for (const step of steps) if (!step.isApart) await step.run(part, inTransaction, () => {});
        const isRecorded = reviewed !== undefined || drops.length > 0;
        if (isRecorded)
          await writeRecord(store, part, { plan: reviewed && planFingerprint(reviewed), drops });
        return { steps, migration, isRecorded: isRecorded || planned.existing.has(migrationTable) };
      }),
    ),
  );
  for (const step of steps)
    if (step.isApart)
      await runApart(dialect, session, step, (done, total) => onProgress?.(step.text, done, total));
  await options.complete?.();
  if (isRecorded) await session.transaction((part) => deleteRecord(store, part));
  return migration;
}

/** All tables of the database, by name. */
export async function existingTables(store: Store): Promise<ReadonlyMap<string, ExistingTable>> {
  return (await tableDialect(store)).existing(store.database);
}

/** How the tables of a store are read and changed. Only those of its database are loaded, with its driver. */
export async function tableDialect({ dialect }: Store): Promise<TableDialect> {
  if (dialect.name === "sqlite") return (await import("../sqlite/tables.ts")).sqliteTables;
  return (await import("../postgres/tables.ts")).postgresTables;
}
