import { sql } from "kysely";
import { dayMs, type RetentionPolicy } from "../jobs/purge.ts";
import { handlerJobsTable } from "./tables.ts";

/** Deletes calls a number of days after they were set aside. */
export function failedJobRetention(days: number): RetentionPolicy {
  return {
    table: handlerJobsTable.name,
    retentionMs: days * dayMs,
    selectExpired: (column, before) =>
      sql`select ${column} from handler_jobs where status = 'failed' and updated_at < ${before}`,
    encode: (time) => new Date(time).toISOString(),
  };
}
