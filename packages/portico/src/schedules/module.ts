import type { Module, ModuleOptions, RunningModule, ServerContext } from "../runtime/module.ts";
import { type DeclaredSchedule, declaredSchedules } from "./declared-schedules.ts";
import { runRetention, runsTable, schedulesTable } from "./tables.ts";

const intervalMs = 1_000;
/** How long runs in progress may take when the server is closed. */
const shutdownTimeoutMs = 8_000;

/** Schedules: code that runs at certain times, in one process at a time. */
export function schedulesModule({ app }: ModuleOptions): Module & {
  readonly schedules: readonly DeclaredSchedule[];
} {
  const schedules = declaredSchedules(app.schedules);
  return {
    schedules,
    tables: [schedulesTable, runsTable],
    start: (context) => startSchedules(schedules, context),
  };
}

async function startSchedules(
  schedules: readonly DeclaredSchedule[],
  { store, engine, settings, report }: ServerContext,
): Promise<RunningModule> {
  const retention = [runRetention(settings.eventDays)];
  if (schedules.length === 0) return { retention };
  const { planSchedules, Scheduler } = await import("./scheduler.ts");
  await planSchedules(store, schedules);
  const scheduler = new Scheduler(schedules, { store, engine, report });
  return {
    tasks: [{ name: "running schedules", intervalMs, run: () => scheduler.poll() }],
    retention,
    stop: () => scheduler.stop(shutdownTimeoutMs),
  };
}
