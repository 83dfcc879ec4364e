// The order in which the modules of a server stop.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createLog } from "../../src/http/logging/log.ts";
import { app } from "../../src/index.ts";
import { composeApp, openDatabase } from "../../src/runtime/compose.ts";
import { migrateAtStart } from "../../src/runtime/migrate-at-start.ts";
import type { ServerContext } from "../../src/runtime/module.ts";
import { RunningModules } from "../../src/runtime/running-modules.ts";
import { completeSettings } from "../../src/runtime/settings/settings.ts";
import { PorticoServer } from "../../src/server.ts";
import type { Database } from "../../src/store/database.ts";
import { sqliteDialect } from "../../src/store/sqlite/dialect.ts";
import { Store } from "../../src/store/store.ts";
import { makeWorkspace } from "../support/server.ts";

test("writers run until the modules are flushed, other tasks until they are stopped", async () => {
  const runs = { task: 0, writer: 0 };
  const store = new Store(sqliteDialect, {} as Database);
  const context = { store, report: () => {} } as unknown as ServerContext;
  const count = (name: keyof typeof runs) => ({ name, intervalMs: 1, run: async () => (runs[name] += 1) });
  const start = () => ({ tasks: [count("task")], writers: [count("writer")] });
  const modules = await RunningModules.create([{ start }], context);
  modules.startTasks();
  await sleep(50);
  await modules.stop();
  const stopped = { ...runs };
  assert.ok(stopped.task > 0);
  await sleep(50);
  assert.equal(runs.task, stopped.task);
  assert.ok(runs.writer > stopped.writer);
  await modules.flush();
  const flushed = runs.writer;
  await sleep(50);
  assert.equal(runs.writer, flushed);
});

test("a module that fails to stop keeps nothing else from being closed", async (context) => {
  const workspace = await makeWorkspace("sqlite");
  context.after(() => workspace.remove());
  const settings = { databaseUrl: workspace.databaseUrl, port: 0 };
  const assembly = composeApp(app({ name: "Closing", resources: [] }), completeSettings(settings, {}));
  let flushed = 0;
  const stop = async (): Promise<void> => Promise.reject(new Error("cannot stop"));
  const flush = async (): Promise<void> => {
    flushed += 1;
    throw new Error("cannot flush");
  };
  const modules = [{ start: () => ({ stop, flush }) }, ...assembly.modules];
  const store = await openDatabase(assembly.settings);
  await migrateAtStart(store, assembly);
  const server = new PorticoServer({ ...assembly, modules }, store, createLog("silent", undefined));
  await server.prepare();
  await server.listen();
  const timersBefore = timerCount();
  await assert.rejects(server.close(), (error: AggregateError) => {
    assert.deepEqual(
      error.errors.map(({ message }) => message),
      ["cannot stop", "cannot flush"],
    );
    return true;
  });
  assert.equal(flushed, 1);
  assert.ok(timerCount() <= timersBefore);
  await assert.rejects(
    store.database.query({ sql: "select 1", bind: () => [], isRead: true } as never, undefined),
  );
});

function timerCount(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}
