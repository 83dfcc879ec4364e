// The queries on schedules and their runs.

import { sql } from "kysely";
import { defineQuery, type ParametersOf, type QueryRow } from "../store/own-tables/query.ts";
import { tenantsTable } from "../store/tenants.ts";
import { runsTable, schedulesTable } from "./tables.ts";

interface Planned {
  readonly name: string;
  readonly definition: string;
  readonly nextRunAt: string;
}

/** Plans the first run of a schedule, or the next one of a schedule that was changed. */
export const planSchedule = defineQuery([schedulesTable], (db, input: ParametersOf<Planned>) =>
  db
    .insertInto("job_schedules")
    .values({ name: input.name, definition: input.definition, next_run_at: input.nextRunAt })
    .onConflict((conflict) =>
      conflict
        .column("name")
        .doUpdateSet(({ ref }) => ({
          definition: ref("excluded.definition"),
          next_run_at: ref("excluded.next_run_at"),
        }))
        .where(sql<boolean>`job_schedules.definition <> excluded.definition`),
    ),
);

/** The schedules that are due, or whose run was interrupted, unless a process runs them. */
export const selectDue = defineQuery([schedulesTable], (db, { now }: ParametersOf<{ now: string }>) =>
  db
    .selectFrom("job_schedules")
    .select("name")
    .where(({ eb, or }) => or([eb("next_run_at", "<=", now), eb("run_id", "is not", null)]))
    .where(({ eb, or }) => or([eb("lease_until", "is", null), eb("lease_until", "<", now)])),
);

interface LeaseInput {
  readonly name: string;
  readonly leaseId: string;
  readonly now: string;
  readonly until: string;
}

/** Takes the lease of a schedule, unless a process has it. @param dueAt unless it is due later */
export const takeSchedule = defineQuery(
  [schedulesTable],
  (db, { name, leaseId, now, until, dueAt }: ParametersOf<LeaseInput & { dueAt: string }>) =>
    db
      .updateTable("job_schedules")
      .set({ lease_id: leaseId, lease_until: until })
      .where("name", "=", name)
      .where(({ eb, or }) => or([eb("next_run_at", "<=", dueAt), eb("run_id", "is not", null)]))
      .where(({ eb, or }) => or([eb("lease_until", "is", null), eb("lease_until", "<", now)]))
      .returning(["run_id as runId", "after_tenant as afterTenant", "next_run_at as nextRunAt"]),
);

interface OfLease {
  readonly name: string;
  readonly leaseId: string;
}

export const extendLease = defineQuery(
  [schedulesTable],
  (db, { name, leaseId, until }: ParametersOf<OfLease & { until: string }>) =>
    db
      .updateTable("job_schedules")
      .set({ lease_until: until })
      .where("name", "=", name)
      .where("lease_id", "=", leaseId)
      .returning("name"),
);

/** Records how far a run has come. Returns nothing if the lease is lost. */
export const recordProgress = defineQuery(
  [schedulesTable],
  (
    db,
    {
      name,
      leaseId,
      runId,
      afterTenant,
    }: ParametersOf<OfLease & { runId: string; afterTenant: string | null }>,
  ) =>
    db
      .updateTable("job_schedules")
      .set({ run_id: runId, after_tenant: afterTenant })
      .where("name", "=", name)
      .where("lease_id", "=", leaseId)
      .returning("name"),
);

/** Ends the lease, and the run. */
export const endRun = defineQuery(
  [schedulesTable],
  (db, { name, leaseId, nextRunAt }: ParametersOf<OfLease & { nextRunAt: string }>) =>
    db
      .updateTable("job_schedules")
      .set({
        next_run_at: nextRunAt,
        ...{ lease_id: sql.lit(null), lease_until: sql.lit(null) },
        ...{ run_id: sql.lit(null), after_tenant: sql.lit(null) },
      })
      .where("name", "=", name)
      .where("lease_id", "=", leaseId)
      .returning("name"),
);

/** Ends the lease; another process continues the run. */
export const giveUpLease = defineQuery([schedulesTable], (db, { name, leaseId }: ParametersOf<OfLease>) =>
  db
    .updateTable("job_schedules")
    .set({ lease_id: sql.lit(null), lease_until: sql.lit(null) })
    .where("name", "=", name)
    .where("lease_id", "=", leaseId),
);

export interface NewRun {
  readonly id: string;
  readonly schedule: string;
  readonly scheduledAt: string;
  readonly startedAt: string;
}

export const insertRun = defineQuery([runsTable], (db, input: ParametersOf<NewRun>) =>
  db.insertInto("job_runs").values({
    id: input.id,
    schedule: input.schedule,
    status: sql.lit("running"),
    scheduled_at: input.scheduledAt,
    started_at: input.startedAt,
    tenants: sql.lit(0),
    failures: sql.lit(0),
  }),
);

/** Counts a tenant. @param failures 1 if its run has failed */
export const countTenant = defineQuery(
  [runsTable],
  (db, { id, failures, error }: ParametersOf<{ id: string; failures: number; error: string | null }>) =>
    db
      .updateTable("job_runs")
      .set({
        tenants: sql<number>`tenants + 1`,
        failures: sql<number>`failures + cast(${failures} as integer)`,
        error: sql<string | null>`coalesce(error, cast(${error} as text))`,
      })
      .where("id", "=", id),
);

export const recordEnd = defineQuery(
  [runsTable],
  (db, { id, now }: ParametersOf<{ id: string; now: string }>) =>
    db
      .updateTable("job_runs")
      .set({
        ended_at: now,
        status: sql<string>`case when failures > 0 then 'failed' else 'succeeded' end`,
      })
      .where("id", "=", id),
);

export const selectSchedules = defineQuery([schedulesTable], (db) =>
  db
    .selectFrom("job_schedules")
    .select(["name", "next_run_at as nextRunAt", "lease_until as leaseUntil"])
    .orderBy("name"),
);

const runColumns = [
  "id",
  "schedule",
  "status",
  "scheduled_at as scheduledAt",
  "started_at as startedAt",
  "ended_at as endedAt",
  "tenants",
  "failures",
  "error",
] as const;

/** Runs, newest first. */
export const selectRuns = defineQuery([runsTable], (db, { count }: ParametersOf<{ count: number }>) =>
  db
    .selectFrom("job_runs")
    .select([...runColumns])
    .orderBy("id", "desc")
    .limit(count),
);

/** The last run of a schedule. */
export const selectLastRun = defineQuery(
  [runsTable],
  (db, { schedule }: ParametersOf<{ schedule: string }>) =>
    db
      .selectFrom("job_runs")
      .select([...runColumns])
      .where("schedule", "=", schedule)
      .orderBy("id", "desc")
      .limit(sql.lit(1)),
);

export const selectRun = defineQuery([runsTable], (db, { id }: ParametersOf<{ id: string }>) =>
  db
    .selectFrom("job_runs")
    .select([...runColumns])
    .where("id", "=", id),
);

export type StoredRun = QueryRow<typeof selectRuns>;

const tenantsAtOnce = 100;

/** The next tenants, oldest first, because ids sort by the time of their creation. */
export const nextTenants = defineQuery([tenantsTable], (db, { after }: ParametersOf<{ after: string }>) =>
  db.selectFrom("tenants").select("id").where("id", ">", after).orderBy("id").limit(sql.lit(tenantsAtOnce)),
);
