// Slow reads delay only their own tenant, end after a timeout, and keep the types of their errors.

import assert from "node:assert/strict";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LoggedProblem, OperatorError, Problem } from "../../src/errors.ts";
import type { Statement, StoreOptions } from "../../src/store/database.ts";
import { openStore } from "../../src/store/open.ts";
import { SlowReadQueue } from "../../src/store/slow-read-queue.ts";
import { maxValueBytes, SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { ReadWorkers } from "../../src/store/sqlite/read-workers.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";

interface Input {
  readonly tenant: string;
}

function slowStatement(sql: string): Statement<Input> {
  return { sql, bind: () => [], mayScan: true, tenantOf: ({ tenant }) => tenant };
}

const quick = slowStatement("select 1");
/** Each statement takes at least a quarter of a second. */
const slow = {
  sqlite: slowStatement(
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000) select count(*) from n",
  ),
  postgres: slowStatement("select pg_sleep(0.5)"),
};
const endless = {
  sqlite: slowStatement(slow.sqlite.sql.replace("1000000", "20000000")),
  postgres: slowStatement("select pg_sleep(10)"),
};

function isProblem(code: Problem["code"]): (error: unknown) => boolean {
  return (error) => error instanceof Problem && error.code === code;
}

onEachDatabase("slow reads", (database) => {
  let workspace: Workspace;
  const stores: Store[] = [];
  const open = async (options?: StoreOptions): Promise<Store["database"]> => {
    const store = await openStore(workspace.databaseUrl, options);
    stores.push(store);
    return store.database;
  };
  before(async () => {
    workspace = await makeWorkspace(database);
  });
  after(async () => {
    for (const store of stores) await store.database.close();
    await workspace.remove();
  });

  test("a tenant's slow reads do not delay those of another", async () => {
    // Longer than the eight reads take together on a busy machine.
    const opened = await open({ slowReadMs: 60_000 });
    await opened.query(quick, { tenant: "b" });
    let completed = 0;
    const many = Array.from({ length: 8 }, async () => {
      await opened.query(slow[database], { tenant: "a" });
      completed += 1;
    });
    await sleep(50);
    for (let count = 0; count < 5; count += 1) await opened.query(quick, { tenant: "b" });
    assert.ok(completed < 6, `${completed} completed before`);
    await Promise.all(many);
  });

  test("a read that exceeds the timeout is 503, and others continue", async () => {
    const opened = await open({ slowReadMs: 1_000 });
    const reports: string[] = [];
    const counted: string[] = [];
    opened.watch(
      (message) => reports.push(message),
      (what) => counted.push(what),
    );
    await assert.rejects(
      opened.query(endless[database], { tenant: "a" }),
      // Failures that a caller causes are counted, and not logged individually.
      (error) => isProblem("unavailable")(error) && error instanceof LoggedProblem,
    );
    assert.deepEqual({ reports, counted }, { reports: [], counted: ["slowReadsTimedOut"] });
    assert.equal(Number((await opened.query(quick, { tenant: "b" }))[0]![0]), 1);
  });
});

test("tenants take turns, and the number of waiting reads of a tenant is bounded", async () => {
  const queue = new SlowReadQueue({ slots: 1, slotsPerTenant: 1, timeoutMs: 10_000, countRefused: () => {} });
  const order: string[] = [];
  const run = (tenant: string): Promise<void> =>
    queue.run(tenant, 0, async () => {
      await sleep(1);
      order.push(tenant);
    });
  const all = ["a", "a", "a", "a", "b", "b", "c"].map(run);
  await Promise.all(all);
  assert.deepEqual(order, ["a", "a", "b", "c", "a", "b", "a"]);

  const many = Array.from({ length: 300 }, () => run("a"));
  const other = run("b");
  const outcomes = await Promise.allSettled(many);
  const refused = outcomes.filter((each) => each.status === "rejected").map(({ reason }) => reason);
  assert.equal(refused.length, 300 - 251);
  assert.ok(
    refused.every((error) => isProblem("rate_limited")(error) && error.headers["Retry-After"] === "1"),
  );
  await other;
});

test("work that waits too long is refused, and counted once", async () => {
  const counted: string[] = [];
  const countRefused = (what: string): void => {
    counted.push(what);
  };
  const queue = new SlowReadQueue({ slots: 1, slotsPerTenant: 1, timeoutMs: 20_000, countRefused });
  const running = queue.run("a", 0, () => sleep(11_000));
  await assert.rejects(
    queue.run("b", 0, async () => {}),
    (error) => isProblem("unavailable")(error) && error instanceof LoggedProblem,
  );
  assert.deepEqual(counted, ["slowReadsRefused"]);
  await running;
});

test("the bytes of waiting work are bounded for a tenant and in total", async () => {
  const counted: string[] = [];
  const countRefused = (what: string): void => {
    counted.push(what);
  };
  const queue = new SlowReadQueue({ slots: 1, slotsPerTenant: 1, timeoutMs: 10_000, countRefused });
  const gate = Promise.withResolvers<void>();
  const work = (): Promise<void> => gate.promise;
  const mebibyte = 1024 * 1024;
  const all = [queue.run("first", 0, work)];
  for (const tenant of ["a", "b", "c", "d"]) {
    for (let count = 0; count < 16; count += 1) all.push(queue.run(tenant, mebibyte, work));
    await assert.rejects(queue.run(tenant, mebibyte, work), isProblem("rate_limited"));
  }
  await assert.rejects(queue.run("e", mebibyte, work), isProblem("unavailable"));
  assert.deepEqual(counted, ["slowReadsRefused"]);
  all.push(queue.run("e", 0, work));
  gate.resolve();
  await Promise.all(all);
  await queue.run("e", 16 * mebibyte, work);
});

test("errors of SQLite keep their types when a worker thread returns them", async () => {
  const workspace = await makeWorkspace("sqlite");
  const file = join(workspace.folder, "portico.db");
  const writer = new SqliteConnection(file, 0);
  writer.native.exec("create table t (a text); create table u (a text)");
  writer.native.exec(
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000) insert into t select hex(randomblob(500)) from n",
  );
  writer.native.exec("pragma wal_checkpoint(truncate)");
  writer.native.close();
  const reader = new ReadWorkers(file, 10_000, () => {});
  const query = (sql: string) => reader.query("a", { sql, values: [], maxBytes: maxValueBytes });
  try {
    const many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 700)";
    await assert.rejects(
      query(`${many} select group_concat(printf('%.*c', 100000, 'x')) from n`),
      isProblem("validation_error"),
    );
    await assert.rejects(query("select * from missing"), (error) => error instanceof OperatorError);
    const damaged = openSync(file, "r+");
    for (let page = 4; page < 400; page += 1)
      writeSync(damaged, Buffer.alloc(4096, 0xff), 0, 4096, page * 4096);
    closeSync(damaged);
    await assert.rejects(
      query("select sum(length(a)) from t"),
      (error) => isProblem("unavailable")(error) && /malformed/.test(String((error as Error).cause)),
    );
    assert.deepEqual(await query("select count(*) from u"), [[0]]);
  } finally {
    await reader.close();
    await workspace.remove();
  }
});
