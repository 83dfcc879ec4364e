// Handlers while servers are killed, and with several servers on one database.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { writeDirectly } from "../support/database-reader.ts";
import {
  type Answer,
  makeWorkspace,
  onEachDatabase,
  PorticoProcess,
  type Workspace,
} from "../support/server.ts";
import { until } from "../support/webhook-receiver.ts";

const cwd = join(import.meta.dirname, "../fixtures/handled");

onEachDatabase("handlers and crashes", (database) => {
  let workspace: Workspace;
  let server: PorticoProcess;
  before(async () => {
    workspace = await makeWorkspace(database);
  });
  after(async () => {
    await server.stop();
    await workspace.remove();
  });
  const traces = async (query: string): Promise<Answer["body"]> =>
    (await server.request(`/traces?limit=100&${query}`)).body.data;

  test("a handler whose server is killed is called again, with the same event", async () => {
    server = await PorticoProcess.start(workspace, { cwd, env: { HANG: "true" } });
    const { key } = server;
    await server.request("/orders", { body: { customer: "Ada" } });
    const [{ eventId }] = await until(traces, "step=begun", (all) => all.length === 1);
    await server.kill();
    // As if six seconds had passed.
    await writeDirectly(workspace.databaseUrl, "update handler_reader set lease_until = null");
    const due = "next_attempt_at = '2020-01-01T00:00:00.000Z'";
    await writeDirectly(workspace.databaseUrl, `update handler_queues set ${due} where lease_id is not null`);
    server = await PorticoProcess.start(workspace, { cwd, key });
    await until(traces, `eventId=${eventId}&step=done`, (all) => all.length === 1);
    assert.equal((await traces("step=begun")).length, 2);
    assert.equal((await traces("step=done")).length, 1);
  });

  // A SQLite database has one server.
  if (database === "sqlite") return;

  test("of two servers, one calls a handler for an event", async () => {
    const other = await PorticoProcess.start(workspace, { cwd, key: server.key });
    const servers = [server, other];
    const count = 50;
    await Promise.all(
      Array.from({ length: count }, (_, n) =>
        servers[n % 2]!.request("/orders", { body: { customer: String(n) } }),
      ),
    );
    const done = await until(traces, "step=done", (all) => all.length > count);
    await other.stop();
    assert.equal(new Set(done.map(({ eventId }: { eventId: string }) => eventId)).size, count + 1);
    assert.equal((await traces("step=done")).length, count + 1);
  });
});
