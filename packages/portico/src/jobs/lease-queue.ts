// A queue of jobs in a table of the database, shared by the processes on it. A process leases jobs for a time, works on
// them outside a transaction, and records the outcome, for which it must still hold the lease.
//
// The states of a job:
//
//   pending     `isPending` holds. The job is due once `next_attempt_at` has passed.
//   leased      Still pending, with a `lease_id`. `attempts` counts this attempt, and `next_attempt_at` is the end of the
//               lease: if the process dies, the job is due again then.
//   to retry    The outcome leaves the job pending, with the time of the next attempt.
//   finished    The outcome sets columns for which `isPending` no longer holds: sent, failed for good.
//
// A job can be attempted more than once, so its work must tolerate that.

import { type RawBuilder, sql } from "kysely";
import { isUnavailable } from "../errors.ts";
import type { Report } from "../lib/report.ts";
import type { Session, Statement } from "../store/database.ts";
import { compile, parameter } from "../store/statement.ts";
import type { Store } from "../store/store.ts";

export interface LeaseQueueOptions<Outcome> {
  /**
   * A table with the columns `tenant_no`, `id`, `attempts`, `lease_id`, `next_attempt_at` and `updated_at`. An index has
   * to find the pending rows in the order of `next_attempt_at`.
   */
  readonly table: string;
  /** SQL condition on the row: `` sql`status = 'waiting'` `` */
  readonly isPending: RawBuilder<unknown>;
  /** SQL expression for the job as JSON text. It has to include `id` and `attempts`. */
  readonly job: RawBuilder<unknown>;
  /** The columns that an outcome sets, in addition to those of the queue. */
  readonly outcomeColumns: Readonly<Record<string, (outcome: Outcome) => unknown>>;
  /** One job, for the log: "an email" */
  readonly jobName: string;
}

export interface Lease {
  readonly id: string;
  /** Timestamps of its start and its end. */
  readonly from: string;
  readonly until: string;
}

/** A job that this process may work on until the lease ends. */
export type Leased<Job> = Job & {
  readonly id: string;
  /** Including the current one. */
  readonly attempts: number;
  readonly tenantId: string;
  readonly lease: Lease;
};

export interface JobOutcome {
  readonly at: string;
  /** When the job is due again, if it stays pending; at once by default. */
  readonly nextAttemptAt?: string | undefined;
}

interface LeaseRequest {
  readonly count: number;
  /** Due jobs to leave out, because the database rejects their update. */
  readonly skipped: number;
  readonly lease: Lease;
}

interface Completion<Outcome> {
  readonly job: Leased<unknown>;
  readonly outcome: Outcome;
}

interface Extension {
  readonly job: Leased<unknown>;
  readonly until: string;
}

/** How long jobs are leased one at a time after the database has rejected the lease of several. */
const singleLeaseMs = 60_000;
const maxSkipped = 100;

export class LeaseQueue<Job, Outcome extends JobOutcome> {
  readonly #store: Store;
  readonly #jobName: string;
  readonly #report: Report;
  readonly #selectDue: Statement<string>;
  readonly #lease: Statement<LeaseRequest>;
  readonly #complete: Statement<Completion<Outcome>>;
  readonly #extend: Statement<Extension>;
  #leaseSinglyUntil = 0;

  /** @param report called when the database rejects the update of a job */
  constructor(store: Store, options: LeaseQueueOptions<Outcome>, report: Report) {
    this.#store = store;
    this.#jobName = options.jobName;
    this.#report = report;
    this.#selectDue = selectDue(store, options);
    this.#lease = leaseStatement(store, options);
    this.#complete = completeStatement(store, options);
    this.#extend = extendStatement(store, options);
  }

  /** Whether a job is due. Costs no write, in contrast to `lease`. */
  async isAnyDue(now: string): Promise<boolean> {
    return (await this.#store.database.query(this.#selectDue, now)).length > 0;
  }

  /** Leases up to `count` due jobs, in the order in which they became due. */
  async lease(count: number, lease: Lease): Promise<Leased<Job>[]> {
    if (Date.now() < this.#leaseSinglyUntil) return this.#leaseSingly(count, lease);
    try {
      return await this.#leaseTogether({ count, skipped: 0, lease });
    } catch (err) {
      if (isUnavailable(err)) throw err;
      this.#report(`the database rejects the update of ${this.#jobName}; it is skipped and tried again`, {
        err,
      });
      this.#leaseSinglyUntil = Date.now() + singleLeaseMs;
      return this.#leaseSingly(count, lease);
    }
  }

  /**
   * Records the outcome of a job and ends its lease. Does nothing if another process has leased the job since.
   *
   * @param session of a transaction; by default the outcome has one of its own
   */
  async complete(job: Leased<unknown>, outcome: Outcome, session?: Session): Promise<void> {
    if (session) await session.query(this.#complete, { job, outcome });
    else await this.#store.transaction((own) => own.query(this.#complete, { job, outcome }));
  }

  /**
   * Extends the lease of a job, which is locked until the transaction ends.
   *
   * @param until the new end of the lease
   * @returns whether this process still has it
   */
  async extend(job: Leased<unknown>, until: string, session: Session): Promise<boolean> {
    return (await session.query(this.#extend, { job, until })).length > 0;
  }

  /** Leases jobs one at a time and skips those whose update the database rejects. */
  async #leaseSingly(count: number, lease: Lease): Promise<Leased<Job>[]> {
    const jobs: Leased<Job>[] = [];
    for (let skipped = 0; jobs.length < count && skipped < maxSkipped; ) {
      try {
        const leased = await this.#leaseTogether({ count: 1, skipped, lease });
        if (leased.length === 0) break;
        jobs.push(...leased);
      } catch (error) {
        if (isUnavailable(error)) throw error;
        skipped += 1;
      }
    }
    return jobs;
  }

  async #leaseTogether(request: LeaseRequest): Promise<Leased<Job>[]> {
    const rows = await this.#store.transaction((session) => session.query(this.#lease, request));
    // The columns of the statement.
    const jobs = rows as readonly (readonly [tenantNo: number, text: string])[];
    const { tenants, database } = this.#store;
    const tenantIdOf = await tenants.findIds(
      database,
      jobs.map(([tenantNo]) => tenantNo),
    );
    return jobs.map(([tenantNo, text]) => ({
      ...JSON.parse(text),
      tenantId: tenantIdOf(tenantNo),
      lease: request.lease,
    }));
  }
}

type TableOptions = Pick<LeaseQueueOptions<never>, "table" | "isPending" | "job">;

function isDue({ isPending }: TableOptions, now: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${isPending} and next_attempt_at <= ${now}`;
}

function selectDue({ dialect }: Store, options: TableOptions): Statement<string> {
  const due = isDue(
    options,
    parameter((now: string) => now),
  );
  return compile(dialect.builder, sql`select 1 from ${sql.table(options.table)} where ${due} limit 1`);
}

function leaseStatement({ dialect }: Store, options: TableOptions): Statement<LeaseRequest> {
  const table = sql.table(options.table);
  const from = parameter(({ lease }: LeaseRequest) => lease.from);
  return compile(
    dialect.builder,
    sql`with due as (select tenant_no, id from ${table} where ${isDue(options, from)} order by next_attempt_at
        limit cast(${parameter(({ count }: LeaseRequest) => count)} as integer)
        offset cast(${parameter(({ skipped }: LeaseRequest) => skipped)} as integer)${dialect.skipLocked})
      update ${table} set attempts = attempts + 1, lease_id = ${parameter(({ lease }: LeaseRequest) => lease.id)},
        next_attempt_at = ${parameter(({ lease }: LeaseRequest) => lease.until)}
      where (tenant_no, id) in (select tenant_no, id from due)
      returning tenant_no, ${options.job}`,
  );
}

function extendStatement({ dialect, tenants }: Store, { table }: TableOptions): Statement<Extension> {
  return compile(
    dialect.builder,
    sql`update ${sql.table(table)} set next_attempt_at = ${parameter(({ until }: Extension) => until)}
      where tenant_no = ${parameter(({ job }: Extension) => tenants.boundNumberOf(job.tenantId))}
        and id = ${parameter(({ job }: Extension) => job.id)}
        and lease_id = ${parameter(({ job }: Extension) => job.lease.id)}
      returning 1`,
  );
}

function completeStatement<Outcome extends JobOutcome>(
  { dialect, tenants }: Store,
  { table, outcomeColumns }: LeaseQueueOptions<Outcome>,
): Statement<Completion<Outcome>> {
  const ofOutcome = (value: (outcome: Outcome) => unknown) =>
    parameter(({ outcome }: Completion<Outcome>) => value(outcome));
  const ofJob = (value: (job: Leased<unknown>) => unknown) =>
    parameter(({ job }: Completion<Outcome>) => value(job));
  const columns = Object.entries(outcomeColumns).map(
    ([name, value]) => sql`${sql.ref(name)} = ${ofOutcome(value)}`,
  );
  return compile(
    dialect.builder,
    sql`update ${sql.table(table)} set ${sql.join([...columns, sql`lease_id = null`])},
        next_attempt_at = ${ofOutcome(({ nextAttemptAt, at }) => nextAttemptAt ?? at)},
        updated_at = ${ofOutcome(({ at }) => at)}
      where tenant_no = ${ofJob(({ tenantId }) => tenants.boundNumberOf(tenantId))} and id = ${ofJob(({ id }) => id)}
        and lease_id = ${ofJob(({ lease }) => lease.id)}`,
  );
}
