// The tables of schedules: when each runs next, and what became of its runs.

import { sql } from "kysely";
import { dayMs, type RetentionPolicy } from "../jobs/purge.ts";
import { ownTable } from "../store/own-tables/table.ts";

/**
 * One row for each schedule. While it runs, a process has the lease, `run_id` is the run in progress, and `after_tenant`
 * the last tenant for which it has ended.
 */
export const schedulesTable = ownTable(
  "job_schedules",
  {
    name: "text",
    definition: "text",
    next_run_at: "timestamp",
    run_id: "text?",
    after_tenant: "text?",
    lease_id: "text?",
    lease_until: "timestamp?",
  },
  { primaryKey: ["name"] },
);

/** `tenants`: for how many it has ended, of which `failures` have failed; `error` is that of the first. */
export const runsTable = ownTable(
  "job_runs",
  {
    id: "text",
    schedule: "text",
    status: "text",
    scheduled_at: "timestamp",
    started_at: "timestamp",
    ended_at: "timestamp?",
    tenants: "integer",
    failures: "integer",
    error: "text?",
  },
  {
    primaryKey: ["id"],
    indexes: [{ columns: ["schedule", "id"] }, { columns: ["started_at"] }],
  },
);

/** Deletes runs after a number of days. */
export function runRetention(days: number): RetentionPolicy {
  return {
    table: runsTable.name,
    retentionMs: days * dayMs,
    selectExpired: (column, before) => sql`select ${column} from job_runs where started_at < ${before}`,
    encode: (time) => new Date(time).toISOString(),
  };
}
