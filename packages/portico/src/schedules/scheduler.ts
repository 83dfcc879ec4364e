// Runs the schedules that are due: each in one process at a time.

import type { Store } from "../store/store.ts";
import type { DeclaredSchedule } from "./declared-schedules.ts";
import { planSchedule, selectDue } from "./queries.ts";
import { type RunContext, ScheduleRun } from "./schedule-run.ts";

/** Plans the next run of schedules that are new or were changed. */
export async function planSchedules(store: Store, schedules: readonly DeclaredSchedule[]): Promise<void> {
  const now = Date.now();
  await store.transaction(async (session) => {
    for (const { name, definition, nextAfter } of schedules.toSorted((one, other) =>
      one.name < other.name ? -1 : 1,
    )) {
      const nextRunAt = new Date(nextAfter(now, now)).toISOString();
      await planSchedule(store).run(session, { name, definition, nextRunAt });
    }
  });
}

export class Scheduler {
  readonly #context: RunContext;
  readonly #schedules: ReadonlyMap<string, DeclaredSchedule>;
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();
  #isStopping = false;

  constructor(schedules: readonly DeclaredSchedule[], context: Omit<RunContext, "isStopping" | "stopping">) {
    this.#schedules = new Map(schedules.map((each) => [each.name, each]));
    this.#context = { ...context, isStopping: () => this.#isStopping, stopping: this.#stopping.signal };
  }

  /** Starts what is due. Call it periodically, one call at a time. */
  async poll(): Promise<void> {
    const { store } = this.#context;
    const now = new Date().toISOString();
    for (const { name } of await selectDue(store).all(store.database, { now })) {
      const declared = this.#schedules.get(name);
      if (!declared || this.#running.has(name) || this.#isStopping) continue;
      const run = await ScheduleRun.begin(this.#context, declared, now);
      if (run) this.#start(name, run);
    }
  }

  /** Waits for tenants in progress; after the timeout they are given up. Another process continues the runs. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true;
    const timeout = setTimeout(() => this.#stopping.abort(), timeoutMs);
    await Promise.all(this.#running.values());
    clearTimeout(timeout);
  }

  #start(name: string, run: ScheduleRun): void {
    const running = run
      .run()
      .catch((err: unknown) => {
        // Another process continues it at the end of the lease.
        this.#context.report("the run of a schedule is interrupted", { schedule: name, err });
      })
      .finally(() => this.#running.delete(name));
    this.#running.set(name, running);
  }
}
