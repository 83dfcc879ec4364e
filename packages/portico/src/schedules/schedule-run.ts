// One run of a schedule, by the process that has its lease.

import { randomUUID } from "node:crypto";
import { systemCaller } from "../auth/system-caller.ts";
import type { BackgroundContext } from "../declare/handlers.ts";
import { backgroundRows } from "../engine/background-rows.ts";
import type { Engine } from "../engine/engine.ts";
import { errorText, type RunOutcome, runTimed } from "../jobs/timed-run.ts";
import type { AwaitedResults } from "../lib/awaited-results.ts";
import { newId } from "../lib/id.ts";
import type { Report } from "../lib/report.ts";
import { timestampOf } from "../lib/timestamp.ts";
import type { Store } from "../store/store.ts";
import type { DeclaredSchedule } from "./declared-schedules.ts";
import {
  countTenant,
  endRun,
  extendLease,
  giveUpLease,
  insertRun,
  nextTenants,
  recordEnd,
  recordProgress,
  takeSchedule,
} from "./queries.ts";

/** How long a run waits after the crash of its process. The lease is extended while the run lasts. */
const leaseMs = 10_000;
const extendIntervalMs = 3_000;

export interface RunContext {
  readonly store: Store;
  readonly engine: Engine;
  readonly report: Report;
  /** Whether no further tenant is to begin. */
  readonly isStopping: () => boolean;
  /** Aborted when what is in progress is to be ended. */
  readonly stopping: AbortSignal;
}

/** The lease was lost, or the server stops: another process continues the run. */
const interrupted = Symbol("interrupted");

export class ScheduleRun {
  readonly #context: RunContext;
  readonly #declared: DeclaredSchedule;
  readonly #leaseId: string;
  readonly #dueAt: string;
  readonly #runId: string;
  #afterTenant: string | null;
  /** Aborted when the server stops or the lease is lost. */
  readonly #ending = new AbortController();

  private constructor(
    context: RunContext,
    declared: DeclaredSchedule,
    leaseId: string,
    taken: { readonly runId: string; readonly afterTenant: string | null; readonly nextRunAt: string },
  ) {
    this.#context = context;
    this.#declared = declared;
    this.#leaseId = leaseId;
    this.#runId = taken.runId;
    this.#afterTenant = taken.afterTenant;
    this.#dueAt = taken.nextRunAt;
  }

  /**
   * Begins a run, or continues one whose process has died.
   *
   * @param dueAt no run begins that is due later
   * @returns undefined if another process runs it, or it is not due
   */
  static async begin(
    context: RunContext,
    declared: DeclaredSchedule,
    dueAt: string,
  ): Promise<ScheduleRun | undefined> {
    const { store } = context;
    const { name } = declared;
    const leaseId = randomUUID();
    const now = Date.now();
    const [startedAt, until] = [timestampOf(now), timestampOf(now + leaseMs)];
    return store.transaction(async (session) => {
      const taken = await takeSchedule(store).first(session, { name, leaseId, now: startedAt, until, dueAt });
      if (!taken) return undefined;
      const runId = taken.runId ?? newId("run");
      if (taken.runId === null) {
        const scheduledAt = taken.nextRunAt < startedAt ? taken.nextRunAt : startedAt;
        await insertRun(store).run(session, { id: runId, schedule: name, scheduledAt, startedAt });
        await recordProgress(store).run(session, { name, leaseId, runId, afterTenant: null });
      }
      return new ScheduleRun(context, declared, leaseId, { ...taken, runId });
    });
  }

  get id(): string {
    return this.#runId;
  }

  /** Runs for all tenants that are left, and plans the next run. */
  async run(): Promise<void> {
    const { stopping, report } = this.#context;
    const stop = (): void => this.#ending.abort();
    stopping.addEventListener("abort", stop);
    if (stopping.aborted) stop();
    const { name } = this.#declared;
    const timer = setInterval(() => {
      this.#extend().catch((err: unknown) => report("a lease cannot be extended", { schedule: name, err }));
    }, extendIntervalMs);
    try {
      if (this.#declared.schedule.perTenant === false) await this.#runOnce();
      else await this.#runForTenants();
      await this.#end();
    } catch (error) {
      if (error !== interrupted) throw error;
      const { store } = this.#context;
      await store.transaction((session) => giveUpLease(store).run(session, { name, leaseId: this.#leaseId }));
    } finally {
      clearInterval(timer);
      stopping.removeEventListener("abort", stop);
    }
  }

  async #runForTenants(): Promise<void> {
    const { store } = this.#context;
    for (;;) {
      const tenants = await nextTenants(store).all(store.database, { after: this.#afterTenant ?? "" });
      if (tenants.length === 0) return;
      for (const { id: tenantId } of tenants) {
        if (this.#context.isStopping()) throw interrupted;
        // It was deleted since the list was read.
        if ((await store.tenants.findNumber(store.database, tenantId)) === null) continue;
        const { run } = this.#declared.schedule as Extract<
          DeclaredSchedule["schedule"],
          { perTenant?: true }
        >;
        const outcome = await this.#timed((signal, results) =>
          run({ ...this.#times, ...this.#rowsOf(tenantId, signal, results), tenantId, signal }),
        );
        await this.#record(outcome, tenantId);
      }
    }
  }

  async #runOnce(): Promise<void> {
    const { run } = this.#declared.schedule as Extract<DeclaredSchedule["schedule"], { perTenant: false }>;
    const outcome = await this.#timed((signal, results) =>
      run({
        ...this.#times,
        signal,
        tenantIds: () => this.#tenantIds(),
        forTenant: (tenantId) => this.#rowsOf(tenantId, signal, results),
      }),
    );
    await this.#record(outcome, null);
  }

  get #times() {
    const now = new Date().toISOString();
    return { now, scheduledAt: this.#dueAt < now ? this.#dueAt : now };
  }

  async #timed(work: Parameters<typeof runTimed>[0]): Promise<RunOutcome> {
    const { timeoutMs } = this.#declared;
    return runTimed(work, { timeoutMs, stopping: this.#ending.signal });
  }

  #rowsOf(
    tenantId: string,
    signal: AbortSignal,
    results: AwaitedResults,
  ): Pick<BackgroundContext, "rows" | "transaction"> {
    const { engine } = this.#context;
    const caller = {
      ...systemCaller(engine.model, tenantId),
      credentialId: `schedule/${this.#declared.name}`,
    };
    return backgroundRows(engine, caller, signal, results);
  }

  async #tenantIds(): Promise<readonly string[]> {
    const { store } = this.#context;
    const ids: string[] = [];
    for (;;) {
      const next = await nextTenants(store).all(store.database, { after: ids.at(-1) ?? "" });
      if (next.length === 0) return ids;
      ids.push(...next.map(({ id }) => id));
    }
  }

  /** Records the outcome for a tenant; for all of them if it is null. */
  async #record(outcome: RunOutcome, tenantId: string | null): Promise<void> {
    if (outcome.status === "interrupted") throw interrupted;
    const { store, report } = this.#context;
    const { name } = this.#declared;
    const isFailed = outcome.status === "failed";
    const text = isFailed ? errorText(outcome.error) : null;
    const error = text === null || tenantId === null ? text : `${tenantId}: ${text}`;
    if (isFailed) report("a schedule failed", { schedule: name, tenantId, err: outcome.error });
    const isHeld = await store.transaction(async (session) => {
      const progress = { name, leaseId: this.#leaseId, runId: this.#runId, afterTenant: tenantId };
      if (!(await recordProgress(store).first(session, progress))) return false;
      await countTenant(store).run(session, { id: this.#runId, failures: Number(isFailed), error });
      return true;
    });
    if (!isHeld) throw interrupted;
    this.#afterTenant = tenantId;
  }

  async #end(): Promise<void> {
    const { store } = this.#context;
    const { name } = this.#declared;
    const now = Date.now();
    const due = Date.parse(this.#dueAt);
    // A run by command does not change the plan.
    const next = due > now ? due : this.#declared.nextAfter(due, now);
    await store.transaction(async (session) => {
      const ended = { name, leaseId: this.#leaseId, nextRunAt: timestampOf(next) };
      if (await endRun(store).first(session, ended))
        await recordEnd(store).run(session, { id: this.#runId, now: timestampOf(now) });
    });
  }

  async #extend(): Promise<void> {
    const { store } = this.#context;
    const extension = {
      name: this.#declared.name,
      leaseId: this.#leaseId,
      until: timestampOf(Date.now() + leaseMs),
    };
    const isHeld = await store.transaction((session) => extendLease(store).first(session, extension));
    if (!isHeld) this.#ending.abort();
  }
}
