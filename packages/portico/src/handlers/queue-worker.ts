// Makes the due calls of one handler in one tenant while it holds the lease of their queue.

import type { Engine } from "../engine/engine.ts";
import { type AuthoredEvent, findEvents } from "../events/event-lookup.ts";
import type { StoredNames } from "../events/stored-names.ts";
import type { Pace } from "../jobs/pace.ts";
import { QueueLease } from "../jobs/queue-lease.ts";
import type { RetrySchedule } from "../jobs/retry-schedule.ts";
import { errorText, type RunOutcome } from "../jobs/timed-run.ts";
import { WorkInProgress } from "../jobs/work-in-progress.ts";
import type { FairQueue } from "../lib/fair-queue.ts";
import type { Report } from "../lib/report.ts";
import type { Transaction } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { callHandler, depthOf, maxDepth } from "./call-handler.ts";
import type { DeclaredHandler } from "./declared-handlers.ts";
import type { HandlerQueues, LeasedQueue, OfQueue } from "./handler-queue.ts";
import { type DueJob, selectDue, selectNextDue } from "./job-queries.ts";
import { type Finished, writeOutcomes } from "./job-writes.ts";

/** Calls of one queue at once, each for another row. */
const maxCalls = 8;
/** What looking for calls, and making one, costs in units of the pace. */
const unitsOfPoll = 2;
const unitsOfCall = 2;

export interface WorkerOptions {
  readonly store: Store;
  readonly engine: Engine;
  readonly names: StoredNames;
  readonly queues: HandlerQueues;
  /** Bounds the calls of the handler in all tenants. */
  readonly slots: FairQueue;
  readonly schedule: RetrySchedule;
  readonly timeoutMs: number;
  readonly pace: Pace;
  readonly report: Report;
  /** Aborted when calls in progress are to be ended. */
  readonly stopping: AbortSignal;
  readonly isStopping: () => boolean;
  /** Whether queues may wait for a worker. */
  readonly isCrowded: () => boolean;
}

export class QueueWorker {
  readonly #options: WorkerOptions;
  readonly #handler: DeclaredHandler;
  readonly #queue: OfQueue;
  readonly #lease: QueueLease;
  readonly #inProgress = new WorkInProgress<Finished>();

  constructor(queue: LeasedQueue, handler: DeclaredHandler, options: WorkerOptions) {
    this.#options = options;
    this.#handler = handler;
    this.#queue = { tenantId: queue.tenantId, handler: handler.name };
    this.#lease = new QueueLease(options.store, options.queues, queue);
  }

  /** Looks for new calls soon. */
  wake(): void {
    this.#inProgress.wake();
  }

  /** Works until nothing is due, or others need the turn, and ends the lease. @throws Error if the lease is lost */
  async run(): Promise<void> {
    for (;;) {
      if (await this.#poll()) return;
      if (this.#inProgress.size === 0) continue;
      await this.#inProgress.waitForOutcome();
      const finished = this.#inProgress.takeOutcomes();
      if (finished.length > 0 || this.#lease.isEnding) await this.#record(finished);
    }
  }

  /** Starts calls that are due. @returns whether the lease has ended */
  async #poll(): Promise<boolean> {
    const { isStopping, isCrowded } = this.#options;
    const isYielding = isStopping() || (isCrowded() && this.#lease.isTurnOver);
    const room = isYielding ? 0 : maxCalls - this.#inProgress.size;
    if (room > 0) await this.#startDue(room);
    if (this.#inProgress.size > 0) return false;
    const nextDue = async (session: Transaction) =>
      (await selectNextDue(this.#options.store).first(session, this.#queue))?.dueAt ?? null;
    return this.#lease.end(nextDue, isYielding);
  }

  async #startDue(room: number): Promise<void> {
    const { store, pace, slots } = this.#options;
    await pace.take(unitsOfPoll);
    const now = new Date().toISOString();
    const due = await selectDue(store).all(store.database, { ...this.#queue, now });
    const next = due.filter(({ id }) => !this.#inProgress.has(id)).slice(0, room);
    pace.charge(next.length * unitsOfCall);
    for (const job of next) {
      this.#inProgress.start(job.id);
      // handled: `#call` does not reject, and the queue has no bounds that it could exceed.
      void slots.run(() => this.#call(job), this.#queue.tenantId);
    }
  }

  async #call(job: DueJob): Promise<void> {
    const { engine, timeoutMs, stopping, report } = this.#options;
    try {
      const event = await this.#eventOf(job);
      if (typeof event === "string") {
        this.#inProgress.addOutcome(failed(job, job.attempts, event));
        report("a handler is not called", { ...this.#detailsOf(job), reason: event });
      } else {
        const attempt = job.attempts + 1;
        const outcome = await callHandler(engine, this.#handler, event, attempt, { timeoutMs, stopping });
        // An interrupted call stays due.
        if (outcome.status === "interrupted") this.#inProgress.remove(job.id);
        else this.#inProgress.addOutcome(this.#finishedOf(job, outcome));
      }
    } catch (err) {
      // The event cannot be read now; the call stays due.
      this.#inProgress.remove(job.id);
      report("a handler cannot be called; it is tried again", { ...this.#detailsOf(job), err });
    }
  }

  /** The event of a call, read once the call can begin, because its row can be large; or why there is no call. */
  async #eventOf({ eventSequence }: DueJob): Promise<AuthoredEvent | string> {
    const { store, names } = this.#options;
    const event = (await findEvents(store, names, [eventSequence])).get(eventSequence);
    if (!event) return "The event was deleted.";
    if (depthOf(event) < maxDepth) return event;
    return `Handlers have caused each other's events ${maxDepth} times; this one is not handled.`;
  }

  #finishedOf(job: DueJob, outcome: Exclude<RunOutcome, { status: "interrupted" }>): Finished {
    const attempts = job.attempts + 1;
    const at = new Date().toISOString();
    if (outcome.status === "succeeded")
      return { job, at, status: "succeeded", attempts, nextAttemptAt: null, error: null };
    const { schedule, report } = this.#options;
    const delayMs = schedule.delayAfter(attempts);
    const details = { ...this.#detailsOf(job), attempts, err: outcome.error };
    if (delayMs === undefined) {
      report("a handler failed for the last time; its event is set aside", details);
      return failed(job, attempts, errorText(outcome.error));
    }
    report("a handler failed; it is called again", { ...details, retryInSeconds: delayMs / 1_000 });
    const nextAttemptAt = new Date(Date.now() + delayMs).toISOString();
    return { job, at, status: "pending", attempts, nextAttemptAt, error: errorText(outcome.error) };
  }

  #detailsOf({ id, eventId }: DueJob) {
    return { handler: this.#handler.name, job: id, event: eventId };
  }

  async #record(finished: readonly Finished[]): Promise<void> {
    const { store } = this.#options;
    await this.#lease.record((session) => writeOutcomes(store, session, this.#queue, finished));
    for (const { job } of finished) this.#inProgress.remove(job.id);
  }
}

function failed(job: DueJob, attempts: number, error: string | null): Finished {
  const at = new Date().toISOString();
  return { job, at, status: "failed", attempts, nextAttemptAt: null, error };
}
