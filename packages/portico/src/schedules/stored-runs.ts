// Schedules and their runs, for operators.

import type { Engine } from "../engine/engine.ts";
import { OperatorError } from "../errors.ts";
import type { Report } from "../lib/report.ts";
import type { Store } from "../store/store.ts";
import type { DeclaredSchedule } from "./declared-schedules.ts";
import { type StoredRun, selectLastRun, selectRun, selectRuns, selectSchedules } from "./queries.ts";
import { ScheduleRun } from "./schedule-run.ts";
import { planSchedules } from "./scheduler.ts";

export interface ListedSchedule {
  readonly name: string;
  readonly definition: string;
  /** Null until a server has started with it. */
  readonly nextRunAt: string | null;
  readonly lastRun: StoredRun | null;
}

/** The schedules that an app declares, with their last run. */
export async function listSchedules(
  store: Store,
  schedules: readonly DeclaredSchedule[],
): Promise<readonly ListedSchedule[]> {
  const { database } = store;
  const lastRuns = await Promise.all(
    schedules.map(({ name }) => selectLastRun(store).first(database, { schedule: name })),
  );
  // Read afterwards: what has planned the next run has ended the last one in the same transaction.
  const stored = new Map((await selectSchedules(store).all(database)).map((each) => [each.name, each]));
  return schedules.map(({ name, definition }, index) => ({
    ...{ name, definition, nextRunAt: stored.get(name)?.nextRunAt ?? null },
    lastRun: lastRuns[index] ?? null,
  }));
}

/** The newest runs of all schedules. */
export function listRuns(store: Store, count: number): Promise<readonly StoredRun[]> {
  return selectRuns(store).all(store.database, { count });
}

/** Runs a schedule now. @throws OperatorError for an unknown schedule, and for one that is running */
export async function runNow(
  store: Store,
  engine: Engine,
  schedules: readonly DeclaredSchedule[],
  name: string,
  report: Report,
): Promise<StoredRun> {
  const declared = schedules.find((each) => each.name === name);
  if (!declared) {
    const names = schedules.map((each) => each.name).join(", ");
    throw new OperatorError(
      `there is no schedule ${name}; ${names === "" ? "the app declares none" : `the app declares ${names}`}`,
    );
  }
  await planSchedules(store, [declared]);
  const stopping = new AbortController().signal;
  const whenever = "9999-12-31T23:59:59.999Z";
  const context = { store, engine, report, stopping, isStopping: () => false };
  const run = await ScheduleRun.begin(context, declared, whenever);
  if (!run) throw new OperatorError(`the schedule ${name} is running now; see portico job list`);
  await run.run();
  return (await selectRun(store).first(store.database, { id: run.id }))!;
}
