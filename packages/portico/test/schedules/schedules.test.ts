// Schedules: when they run, for whom, and what becomes of runs that fail or are interrupted.

import assert from "node:assert/strict";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { Purge } from "../../src/jobs/purge.ts";
import { declaredSchedules } from "../../src/schedules/declared-schedules.ts";
import { runRetention } from "../../src/schedules/tables.ts";
import { openStore } from "../../src/store/open.ts";
import { control } from "../fixtures/scheduled/portico.config.ts";
import { writeDirectly } from "../support/database-reader.ts";
import { makeTenant, runCommand, serve, type Tenant } from "../support/scenario.ts";
import { onEachDatabase, portico } from "../support/server.ts";
import { until } from "../support/webhook-receiver.ts";

const cwd = join(import.meta.dirname, "../fixtures/scheduled");
const past = "2020-01-01T00:00:00.000Z";

onEachDatabase("schedules", (database) => {
  let other: Tenant;
  const server = serve(database, {
    cwd,
    async prepare({ workspace }) {
      other = await makeTenant(workspace, "*", { cwd });
    },
  });
  const command = (...words: string[]) => runCommand(server.workspace, words, { cwd });
  const schedule = async (name: string) =>
    (await command("job", "list")).schedules.find((each: { name: string }) => each.name === name);
  const write = (statement: string) => writeDirectly(server.workspace.databaseUrl, statement);
  const makeDue = () => write(`update job_schedules set next_run_at = '${past}' where name = 'hourly'`);
  const ticksOf = async (key?: string) =>
    (await server.request("/ticks?limit=100", key === undefined ? {} : { key })).body.data;
  /** Waits for the end of another run than the last one. */
  const nextRun = (lastId: string | undefined) =>
    until(schedule, "hourly", ({ lastRun }) => lastRun && lastRun.id !== lastId && lastRun.endedAt);
  beforeEach(() => {
    control.perform = undefined;
  });

  test("a schedule that is due runs once for each tenant, and the next run is planned", async () => {
    const planned = await schedule("hourly");
    assert.equal(planned.definition, "every 1 h");
    assert.equal(planned.lastRun, null);
    assert.ok(Date.parse(planned.nextRunAt) > Date.now() + 3_000_000);
    assert.match((await schedule("nightly")).nextRunAt, /T0[12]:00:00.000Z$/);
    await makeDue();
    const { lastRun, nextRunAt } = await nextRun(undefined);
    assert.partialDeepStrictEqual(lastRun, { status: "succeeded", tenants: 2, failures: 0, error: null });
    assert.equal(lastRun.scheduledAt, past);
    // The runs that were missed are left out.
    assert.ok(Date.parse(nextRunAt) > Date.now() && Date.parse(nextRunAt) <= Date.now() + 3_600_000);
    for (const key of [undefined, other.key])
      assert.deepEqual(
        (await ticksOf(key)).map(({ name }: { name: string }) => name),
        ["hourly"],
      );
  });

  test("a run that fails for a tenant goes on for others, and says so", async () => {
    const { lastRun: before } = await schedule("hourly");
    control.perform = ({ tenantId }) => {
      if (tenantId === other.id) return Promise.reject(new RangeError("too many"));
      return new Promise(() => {});
    };
    await makeDue();
    const { lastRun } = await nextRun(before.id);
    assert.partialDeepStrictEqual(lastRun, { status: "failed", tenants: 2, failures: 2 });
    assert.match(lastRun.error, /^tenant_\w+: it did not end within 1 seconds$/);
    control.perform = ({ tenantId }) => {
      if (tenantId === other.id) throw new RangeError("too many");
    };
    const failed = await portico(server.workspace, ["job", "run", "hourly"], { cwd });
    assert.equal(failed.stderr, `portico: the schedule hourly failed: ${other.id}: RangeError: too many\n`);
  });

  test("a command runs a schedule at once, unless it is running", async () => {
    const { lastRun: before, nextRunAt } = await schedule("hourly");
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    control.perform = () => {
      started.resolve();
      return go.promise;
    };
    const running = command("job", "run", "hourly");
    await started.promise;
    const second = await portico(server.workspace, ["job", "run", "hourly"], { cwd });
    assert.match(second.stderr, /the schedule hourly is running now/);
    control.perform = undefined;
    go.resolve();
    const { run } = await running;
    assert.partialDeepStrictEqual(run, { status: "succeeded", tenants: 2 });
    // A run by command does not change the plan.
    assert.equal((await schedule("hourly")).nextRunAt, nextRunAt);
    const { runs } = await command("job", "runs", "--limit", "2");
    assert.deepEqual([runs[0].id, runs[1].id], [run.id, before.id]);
  });

  test("a run whose process has died goes on with the tenants that are left", async () => {
    const { lastRun: before } = await schedule("hourly");
    const counts = async () => [(await ticksOf()).length, (await ticksOf(other.key)).length];
    const [ofFirst, ofOther] = await counts();
    const first = (await command("tenant", "list")).tenants[0].id;
    const run = "run_01m82nq8cvf44a48r7jw1v3shc";
    await write(`insert into job_runs (id, schedule, status, scheduled_at, started_at, tenants, failures)
      values ('${run}', 'hourly', 'running', '${past}', '${past}', 1, 0)`);
    await write(`update job_schedules set run_id = '${run}', after_tenant = '${first}', lease_id = 'dead',
      lease_until = '${past}' where name = 'hourly'`);
    const found = async () =>
      (await command("job", "runs")).runs.find(({ id }: { id: string }) => id === run);
    const ended = await until(found, undefined, ({ endedAt }) => endedAt);
    assert.partialDeepStrictEqual(ended, { status: "succeeded", tenants: 2 });
    assert.deepEqual(await counts(), [ofFirst, ofOther! + 1]);
    assert.notEqual(before.id, run);
  });

  test("old runs are deleted", async () => {
    await write(`insert into job_runs (id, schedule, status, scheduled_at, started_at, tenants, failures)
      values ('run_old', 'hourly', 'succeeded', '${past}', '${past}', 1, 0)`);
    const { length } = (await command("job", "runs")).runs;
    const store = await openStore(server.workspace.databaseUrl, { slowReadMs: 1_000 });
    await new Purge(store, [runRetention(30)], (message) => assert.fail(message)).purgeAll();
    await store.database.close();
    const { runs } = await command("job", "runs");
    // The one that was interrupted began as long ago.
    assert.equal(runs.length, length - 2);
    assert.ok(runs.every(({ startedAt }: { startedAt: string }) => startedAt > past));
  });

  test("a schedule can run once for all tenants", async () => {
    const { run } = await command("job", "run", "nightly");
    assert.equal(run.tenants, 1);
    assert.deepEqual(control.totals.splice(0), [2]);
    for (const key of [undefined, other.key])
      assert.equal((await ticksOf(key)).filter(({ name }: { name: string }) => name === "nightly").length, 1);
    const unknown = await portico(server.workspace, ["job", "run", "weekly"], { cwd });
    assert.equal(unknown.stderr, "portico: there is no schedule weekly; the app declares hourly, nightly\n");
  });
});

test("cron times hold in their time zone, also when clocks change", () => {
  const [nightly] = declaredSchedules({
    nightly: { cron: "30 2 * * *", timeZone: "Europe/Berlin", run: () => {} },
  });
  const next = (from: string): string => new Date(nightly!.nextAfter(0, Date.parse(from))).toISOString();
  assert.equal(next("2026-11-23T00:00:00.000Z"), "2026-11-23T01:30:00.000Z");
  assert.equal(next("2026-07-23T00:00:00.000Z"), "2026-07-23T00:30:00.000Z");
  // On 25 October 2026 the hour from 2 to 3 comes twice, on 28 March 2027 it does not come.
  const first = next("2026-10-24T12:00:00.000Z");
  assert.equal(first, "2026-10-25T00:30:00.000Z");
  assert.equal(next(first), "2026-10-26T01:30:00.000Z");
  assert.match(next("2027-03-27T12:00:00.000Z"), /^2027-03-28T0[01]:[03]0:00\.000Z$/);
});

test("an interval leaves out what was missed, and keeps its rhythm", () => {
  const [hourly] = declaredSchedules({ hourly: { every: "1 h", run: () => {} } });
  const [due, hour] = [Date.parse("2026-11-23T00:30:00.000Z"), 3_600_000];
  assert.equal(hourly!.nextAfter(due, due), due + hour);
  assert.equal(hourly!.nextAfter(due, due + 10), due + hour);
  assert.equal(hourly!.nextAfter(due, due + 5 * hour + 10), due + 6 * hour);
});

test("invalid schedules are refused with one line that names them", () => {
  const run = () => {};
  // Wrong on purpose.
  for (const [schedule, line] of [
    [{ run }, /"x" must have either every: "1 h" or cron/],
    [{ every: "1 h", cron: "* * * * *", run }, /must have either/],
    [{ every: "1h30", run }, /invalid interval "1h30"/],
    [{ every: "5 s", run }, /from 10 s to 366 d/],
    [{ every: "400 d", run }, /from 10 s to 366 d/],
    [{ every: "999999 d", run }, /from 10 s/],
    [{ cron: "0 3 * *", run }, /"x" has an invalid time: /],
    [{ cron: "0 25 * * *", run }, /invalid time/],
    [{ cron: "* * * * * *", run }, /invalid time/],
    [{ cron: "0 3 * * *", timeZone: "Mars/Olympus", run }, /invalid time/],
    [{ cron: "2020-01-01T00:00:00", run }, /write the five fields of cron/],
    [{ cron: 5, run }, /write the five fields of cron/],
    [{ cron: "0 3 * * *", timeZone: 1, run }, /invalid timeZone/],
    [{ every: "1 h", timeZone: "Europe/Berlin", run }, /timeZone, which only cron uses/],
    [{ every: "1 h", perTennant: false, run }, /unknown option perTennant; use some of every, cron/],
    [{ every: "1 h" }, /must have a function run/],
    [{ every: "1 h", timeout: "2 d", run }, /invalid timeout/],
  ] as const)
    assert.throws(() => declaredSchedules({ x: schedule as never }), line);
  assert.throws(() => declaredSchedules({ "A b": { every: "1 h", run } }), /"A b" has an invalid name/);
});

test("a time that never comes is far away", () => {
  const [never] = declaredSchedules({ x: { cron: "0 0 30 2 *", run: () => {} } });
  assert.equal(never!.nextAfter(0, Date.now()), Date.parse("9999-12-31T00:00:00.000Z"));
});
