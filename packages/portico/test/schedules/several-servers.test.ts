// Two servers of one database: each run of a schedule happens in one of them.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { writeDirectly } from "../support/database-reader.ts";
import { runCommand, serveProcess } from "../support/scenario.ts";
import { onEachDatabase, PorticoProcess } from "../support/server.ts";
import { until } from "../support/webhook-receiver.ts";

const cwd = join(import.meta.dirname, "../fixtures/scheduled");
const rounds = 8;

onEachDatabase("schedules of two servers", (database) => {
  const server = serveProcess(database, { cwd });
  let other: PorticoProcess;

  before(async () => {
    other = await PorticoProcess.start(server.workspace, { cwd, key: server.portico.key });
  });
  after(() => other?.stop());

  test("a schedule that is due runs in one of them", async () => {
    const runsOf = async () => (await runCommand(server.workspace, ["job", "runs"], { cwd })).runs;
    for (let round = 1; round <= rounds; round += 1) {
      const due = new Date(Date.now() - 1_000).toISOString();
      const statement = `update job_schedules set next_run_at = '${due}' where name = 'hourly'`;
      await writeDirectly(server.workspace.databaseUrl, statement);
      const runs = await until(
        runsOf,
        undefined,
        (all) => all.length >= round && all.every(({ endedAt }: { endedAt: string | null }) => endedAt),
      );
      assert.equal(runs.length, round);
    }
    for (const { status } of await runsOf()) assert.equal(status, "succeeded");
    // A row for each run.
    const { body } = await other.request("/ticks?limit=100");
    assert.equal(body.data.length, rounds);
  });
});
