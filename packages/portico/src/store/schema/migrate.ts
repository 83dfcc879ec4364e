// Migrates a database to the schema of the model. Additions are made automatically; a change that could lose data is
// refused with an error that says how to make it by hand.

import { setTimeout as sleep } from "node:timers/promises";
import { OperatorError } from "../../errors.ts";
import type { Maintenance, Session } from "../database.ts";
import { refuseOldLayout } from "../layout/layout.ts";
import { postgresTables } from "../postgres/tables.ts";
import { sqliteTables } from "../sqlite/tables.ts";
import type { Store } from "../store.ts";
import { type Table, tableOn } from "./ddl.ts";
import { type Step, sqlStep, tableSteps, textsOf } from "./table-steps.ts";
import type { ExistingTable, TableDialect } from "./tables.ts";

/** How long a migration retries to lock tables that are in use, and the pause between two attempts. */
const lockTimeoutMs = 60_000;
const retryIntervalMs = 500;

export interface MigrationOptions {
  /** Whether nothing is changed. */
  readonly isDryRun?: boolean;
  /** Whether to drop what only processes of earlier versions need. */
  readonly isContraction?: boolean;
}

/** What a migration did, or with `isDryRun` would do. */
export interface Migration {
  /** The SQL statements. */
  readonly statements: readonly string[];
  /** The indexes of existing tables that are created, dropped, or left for the contraction. */
  readonly indexes: readonly IndexChange[];
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
  { isDryRun = false, isContraction = false }: MigrationOptions = {},
): Promise<Migration> {
  const steps = await plan(store, tables, store.database);
  if (isDryRun || !steps.some((step) => isDue(step, isContraction)))
    return describeSteps(store, store.database, steps, isContraction);
  return store.database.maintain((session) => applySteps(store, tables, session, isContraction));
}

function isDue(step: Step, isContraction: boolean): boolean {
  return isContraction || !step.isContraction;
}

/** @param session sees the indexes that the steps will drop */
async function describeSteps(
  store: Store,
  session: Session,
  steps: readonly Step[],
  isContraction: boolean,
): Promise<Migration> {
  const ofIndexes = steps.filter((step) => step.index !== undefined);
  const removals = ofIndexes.filter(({ isRemoval }) => isRemoval).map(({ index }) => index!.name);
  const sizes = removals.length > 0 ? await tableDialect(store).indexSizes(session, removals) : undefined;
  const changeOf = (step: Step): IndexChange["change"] => {
    if (!step.isRemoval) return "created";
    return isDue(step, isContraction) ? "dropped" : "unneeded";
  };
  return {
    statements: textsOf(steps.filter((step) => isDue(step, isContraction))),
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
  const steps = await plan(store, tables, store.database, true);
  return textsOf(steps.filter((step) => !step.isRemoval));
}

async function plan(
  store: Store,
  declared: readonly Table[],
  session: Session,
  isServing = false,
): Promise<Step[]> {
  const dialect = tableDialect(store);
  const existing = await dialect.existing(session);
  refuseOldLayout(existing);
  const tables = declared.map((table) => tableOn(store.dialect.name, table));
  const steps: Step[] = [];
  for (const table of tables) {
    const existingTarget = existing.get(table.name);
    steps.push(...(await tableSteps(session, store.dialect, dialect, table, existingTarget, isServing)));
  }
  for (const table of tables) {
    const { added, checked } = dialect.addReferences(table, existing.get(table.name));
    steps.push(...added.map((query) => sqlStep(store.dialect, query)));
    steps.push(...checked.map((query) => sqlStep(store.dialect, query, { isApart: true })));
  }
  return steps;
}

async function applySteps(
  store: Store,
  tables: readonly Table[],
  session: Maintenance,
  isContraction: boolean,
): Promise<Migration> {
  const dialect = tableDialect(store);
  await dialect.lock(session);
  for (const text of dialect.before) await session.run(text);
  try {
    const { steps, migration } = await retryWhileLocked(dialect, () =>
      session.transaction(async (part) => {
        await dialect.limitLockWait(part);
        // Another process may have migrated while this one waited.
        const all = await plan(store, tables, part);
        const migration = await describeSteps(store, part, all, isContraction);
        const steps = all.filter((step) => isDue(step, isContraction));
        const inTransaction = (work: (session: Session) => Promise<void>): Promise<void> => work(part);
        for (const step of steps) if (!step.isApart) await step.run(part, inTransaction);
        return { steps, migration };
      }),
    );
    for (const step of steps) if (step.isApart) await step.run(session, (work) => session.transaction(work));
    return migration;
  } finally {
    for (const text of dialect.after) await session.run(text);
  }
}

/**
 * Retries work that could not lock a table. A change of a table waits for every transaction that uses it, and later requests
 * queue behind it, so each attempt gives up soon.
 */
async function retryWhileLocked<T>(dialect: TableDialect, work: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + lockTimeoutMs; ; await sleep(retryIntervalMs)) {
    try {
      return await work();
    } catch (error) {
      if (!dialect.isBlocked(error)) throw error;
      if (Date.now() > until)
        throw new OperatorError(
          "open transactions keep the tables locked; nothing was changed. End them, then migrate again",
        );
    }
  }
}

/** All tables of the database, by name. */
export function existingTables(store: Store): Promise<ReadonlyMap<string, ExistingTable>> {
  return tableDialect(store).existing(store.database);
}

/** How the tables of a store are read and changed. */
export function tableDialect({ dialect }: Store): TableDialect {
  return dialect.name === "sqlite" ? sqliteTables : postgresTables;
}
