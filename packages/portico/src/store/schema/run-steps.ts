// Runs the steps of a migration beside processes that serve: with short waits for locks, and retries.

import { setTimeout as sleep } from "node:timers/promises";
import { OperatorError } from "../../errors.ts";
import { type Maintenance, MissingSchema } from "../database.ts";
import type { InTransaction, ReportProgress, Step } from "./step.ts";
import type { TableDialect } from "./tables.ts";

/** How long a migration retries to lock tables that are in use, and the pause between two attempts. */
const lockTimeoutMs = 60_000;
const retryIntervalMs = 500;

const maxPlanAttempts = 3;

/** Runs the transaction of a migration with the settings that it needs. */
export async function withoutReferences<T>(
  dialect: TableDialect,
  session: Maintenance,
  work: () => Promise<T>,
): Promise<T> {
  for (const text of dialect.before) await session.run(text);
  try {
    return await work();
  } finally {
    for (const text of dialect.after) await session.run(text);
  }
}

/** A pause between two steps that lock the same database, in which the writers that wait for the first one run. */
const pauseMs = 50;

/** Runs a step outside the transaction of the migration; what it writes, in transactions of its own. */
export async function runApart(
  dialect: TableDialect,
  session: Maintenance,
  step: Step,
  report: ReportProgress,
): Promise<void> {
  const inTransaction: InTransaction = (work) =>
    retryWhileLocked(dialect, () =>
      session.transaction(async (part) => {
        await dialect.limitLockWait(part);
        return work(part);
      }),
    );
  try {
    if (step.isLocking && !dialect.isConcurrent) await sleep(pauseMs);
    if (step.isLocking) await inTransaction((part) => step.run(part, (work) => work(part), report));
    else await step.run(session, inTransaction, report);
  } catch (error) {
    if (step.kind !== "required" || !dialect.lacksValue(error)) throw error;
    throw new OperatorError(
      `an earlier version is still running and adds rows without a value that is now required; stop it, then run portico migrate --contract again. This statement failed: ${step.text}`,
    );
  }
}

/** Retries what reads the schema without a lock: another migration may have dropped a table in between. */
export async function retryIfChanged<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof MissingSchema) || attempt === maxPlanAttempts) throw error;
    }
  }
}

/**
 * Retries work that could not lock a table. A change of a table waits for every transaction that uses it, and later requests
 * queue behind it, so each attempt gives up soon.
 */
export async function retryWhileLocked<T>(dialect: TableDialect, work: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + lockTimeoutMs; ; await sleep(retryIntervalMs)) {
    try {
      return await work();
    } catch (error) {
      if (!dialect.isBlocked(error)) throw error;
      if (Date.now() > until)
        throw new OperatorError(
          "open transactions keep the tables locked. End them, then migrate again: the migration continues where it stopped",
        );
    }
  }
}
