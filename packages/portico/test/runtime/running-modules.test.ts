// The order in which the modules of a server stop.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerContext } from "../../src/runtime/module.ts";
import { RunningModules } from "../../src/runtime/running-modules.ts";
import type { Database } from "../../src/store/database.ts";
import { sqliteDialect } from "../../src/store/sqlite/dialect.ts";
import { Store } from "../../src/store/store.ts";

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
