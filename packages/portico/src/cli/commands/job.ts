// portico job list, retry, run, runs

import { findTenant } from "../../auth/tenants/tenant.ts";
import { Engine } from "../../engine/engine.ts";
import { OperatorError } from "../../errors.ts";
import type { StoredJob } from "../../handlers/job-queries.ts";
import { findJob, listJobs, retry } from "../../handlers/stored-jobs.ts";
import { assemble, withStore } from "../../runtime/compose.ts";
import type { StoredRun } from "../../schedules/queries.ts";
import { type ListedSchedule, listRuns, listSchedules, runNow } from "../../schedules/stored-runs.ts";
import type { Command } from "../command.ts";
import { tenantOption } from "../tenant-work.ts";

const defaultLimit = 100;
const limitOption = { value: "N", help: `how many (default: ${defaultLimit})` };

const jobList: Command = {
  name: "job list",
  summary: "List the schedules, and the calls of handlers that are pending or have failed, newest first.",
  options: {
    failed: { help: "only calls that were set aside" },
    tenant: tenantOption,
    limit: limitOption,
  },
  async run(args) {
    const limit = args.number("limit") ?? defaultLimit;
    const isFailed = args.isSet("failed");
    const assembly = await assemble(args.project);
    return withStore(assembly, async (store) => {
      const tenant = await findTenant(store, args.text("tenant"));
      const jobs = await listJobs(store, tenant.id, limit, isFailed);
      if (isFailed)
        return { json: { jobs }, lines: jobs.length > 0 ? jobs.flatMap(linesOfJob) : ["No jobs."] };
      const schedules = await listSchedules(store, assembly.schedules);
      const lines = [...schedules.flatMap(linesOfSchedule), ...jobs.flatMap(linesOfJob)];
      return { json: { schedules, jobs }, lines: lines.length > 0 ? lines : ["No jobs."] };
    });
  },
};

function linesOfJob(job: StoredJob): string[] {
  const { id, status, attempts, nextAttemptAt, handler, eventType, rowKey, lastError } = job;
  const next = nextAttemptAt === null ? "" : `, next attempt ${nextAttemptAt}`;
  return [
    `${id}  ${status.padEnd(7)}  ${handler}  ${eventType}  ${rowKey.split(" ")[1]}  attempts: ${attempts}${next}`,
    ...linesOfError(lastError),
  ];
}

function linesOfSchedule({ name, definition, nextRunAt, lastRun }: ListedSchedule): string[] {
  const next = nextRunAt === null ? "not planned yet" : `next run ${nextRunAt}`;
  const last = lastRun === null ? [] : linesOfRun(lastRun).map((line) => `    ${line}`);
  return [`${name}  ${definition}  ${next}`, ...last];
}

function linesOfRun({ id, schedule, status, startedAt, tenants, failures, error }: StoredRun): string[] {
  const failed = failures > 0 ? `, failures: ${failures}` : "";
  return [
    `${id}  ${status.padEnd(9)}  ${schedule}  ${startedAt}  tenants: ${tenants}${failed}`,
    ...linesOfError(error),
  ];
}

function linesOfError(error: string | null): string[] {
  return error === null ? [] : [`    ${error.split("\n", 1)[0]}`];
}

const jobRetry: Command = {
  name: "job retry",
  summary: "Call a handler again for an event that was set aside, with all its attempts.",
  options: { tenant: tenantOption },
  positionals: ["ID"],
  async run(args) {
    const [id = ""] = args.positionals;
    const assembly = await assemble(args.project);
    return withStore(assembly, async (store) => {
      const { id: tenantId } = await findTenant(store, args.text("tenant"));
      const found = await findJob(store, tenantId, id);
      if (!found) throw new OperatorError(`the tenant has no job ${id}; those that succeeded are not kept`);
      if (!assembly.handlers.some(({ name }) => name === found.handler))
        throw new OperatorError(
          `the app no longer declares the handler ${found.handler}; declare it again to retry the job`,
        );
      if (!(await retry(store, tenantId, found)))
        throw new OperatorError(`the job ${id} is pending; it is called again without a retry`);
      const job = await findJob(store, tenantId, id);
      return { json: { job: job ?? found }, lines: [`Queued ${found.handler} for ${found.eventId}.`] };
    });
  },
};

const jobRun: Command = {
  name: "job run",
  summary: "Run a schedule now, in this process.",
  options: {},
  positionals: ["NAME"],
  async run(args) {
    const assembly = await assemble(args.project);
    const { schedules, model } = assembly;
    const [name = ""] = args.positionals;
    const run = await withStore(assembly, (store) =>
      // The error is in the run.
      runNow(store, new Engine(model, store), schedules, name, () => {}),
    );
    if (run.status === "failed") throw new OperatorError(`the schedule ${name} failed: ${run.error}`);
    return { json: { run }, lines: linesOfRun(run) };
  },
};

const jobRuns: Command = {
  name: "job runs",
  summary: "List the runs of schedules, newest first.",
  options: { limit: limitOption },
  async run(args) {
    const assembly = await assemble(args.project);
    const limit = args.number("limit") ?? defaultLimit;
    const runs = await withStore(assembly, (store) => listRuns(store, limit));
    return { json: { runs }, lines: runs.length > 0 ? runs.flatMap(linesOfRun) : ["No runs yet."] };
  },
};

export const commands: readonly Command[] = [jobList, jobRetry, jobRun, jobRuns];
