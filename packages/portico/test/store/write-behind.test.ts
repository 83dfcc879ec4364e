// Write buffers, which are flushed after the requests: nothing is lost while the database is unavailable, and memory is
// bounded.

import assert from "node:assert/strict";
import { test } from "node:test";
import { users } from "../../src/auth/users/resource.ts";
import { app } from "../../src/declare/app.ts";
import { WriteBehind } from "../../src/jobs/write-behind.ts";
import type { Report } from "../../src/lib/report.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Database, Session, Statement, Transaction } from "../../src/store/database.ts";
import { sqliteDialect } from "../../src/store/sqlite/dialect.ts";
import { Store } from "../../src/store/store.ts";
import { KeyUsageBuffer } from "../../src/usage/key-usage-buffer.ts";
import { RequestLog } from "../../src/usage/request-log.ts";
import { requestLogs } from "../../src/usage/tables.ts";

const model = buildModel(app({ name: "Written behind", resources: [] }), [users, requestLogs]);

/** Records what is written, or fails as an unavailable database does. */
class FakeDatabase implements Database {
  readonly isRemote = false;
  isUnavailable = false;
  /** For each transaction, the tables that it wrote to and the bound values. */
  readonly transactions: { readonly table: string; readonly values: readonly unknown[] }[][] = [];

  async query(): Promise<never[]> {
    return [];
  }
  async execute(): Promise<never> {
    throw new Error("not used");
  }
  async transaction<T>(work: (session: Transaction) => Promise<T>): Promise<T> {
    if (this.isUnavailable) throw new Error("unavailable");
    const written: FakeDatabase["transactions"][number] = [];
    const query = async <Input>({ sql, bind }: Statement<Input>, input: Input) => {
      if (sql.startsWith("select")) return [[1, "tenant_1"]];
      written.push({ table: /"?(\w+)"? /.exec(sql.slice(sql.indexOf(" ", 7)))![1]!, values: bind(input) });
      return [];
    };
    const session: Session = { query };
    // These tests need no savepoints.
    const result = await work(session as Transaction);
    this.transactions.push(written);
    return result;
  }
  watch(): void {}
  async stream(): Promise<never> {
    throw new Error("not used");
  }
  async maintain(): Promise<never> {
    throw new Error("not used");
  }
  async run(): Promise<void> {}
  async close(): Promise<void> {}

  rowsOf(table: string): readonly (readonly unknown[])[] {
    return this.transactions.flat().flatMap((each) => (each.table === table ? [each.values] : []));
  }
}

const at = Date.parse("2026-11-21T09:30:00.000Z");

function requests(count: number, keyId = "api_key_1") {
  const caller = {
    kind: "key" as const,
    tenantId: "tenant_1",
    userId: null,
    role: null,
    credentialId: keyId,
    keyId,
    scopes: new Set<string>(),
  };
  const request = { requestId: "r", method: "GET", route: "/posts", status: 200, durationMs: 1, caller };
  return Array.from({ length: count }, () => request);
}

function makeBuffers() {
  const database = new FakeDatabase();
  const reports: string[] = [];
  const report: Report = (message, details) => {
    const { err, ...counts } = details;
    reports.push(`${message} ${JSON.stringify(counts)}`);
  };
  const store = new Store(sqliteDialect, database);
  const uses = new KeyUsageBuffer(store, report);
  const log = new RequestLog(store, model.resource.get(requestLogs.name)!, report);
  const writing = new WriteBehind(store, [...uses.buffers, log], report);
  const counted = (): number =>
    database.rowsOf("key_usage").reduce((sum, values) => sum + Number(values[5]), 0);
  return { database, reports, uses, log, writing, counted };
}

test("the entries of a second are written in one transaction", async () => {
  const { database, uses, log, writing, counted } = makeBuffers();
  for (let n = 0; n < 10; n += 1) {
    uses.add(requests(20), at + n);
    log.add(requests(20), at + n);
  }
  assert.equal(await writing.flush(), true);
  assert.equal(database.transactions.length, 1);
  assert.equal(counted(), 200);
  assert.equal(database.rowsOf("key_usage").length, 1);
  assert.equal(database.rowsOf("request_logs").length, 200);
});

test("without entries nothing is written", async () => {
  const { database, writing } = makeBuffers();
  assert.equal(await writing.flush(), true);
  assert.equal(database.transactions.length, 0);
});

test("many entries are written in several transactions", async () => {
  const { database, uses, writing, counted } = makeBuffers();
  for (let n = 0; n < 1_000; n += 1) uses.add(requests(2, `api_key_${n}`), at);
  await writing.flush();
  assert.equal(database.transactions.length, 4);
  for (const written of database.transactions) assert.ok(written.length <= 500);
  assert.equal(counted(), 2_000);
});

test("an unavailable database loses no entries, and is reported once", async () => {
  const { database, reports, uses, log, writing, counted } = makeBuffers();
  database.isUnavailable = true;
  for (let second = 0; second < 5; second += 1) {
    uses.add(requests(10), at + second * 1000);
    log.add(requests(10), at + second * 1000);
    assert.equal(await writing.flush(), false);
  }
  assert.equal(reports.length, 1);
  database.isUnavailable = false;
  assert.equal(await writing.flush(), true);
  assert.equal(counted(), 50);
  assert.equal(database.rowsOf("request_logs").length, 50);
  database.isUnavailable = true;
  uses.add(requests(1), at);
  await writing.flush();
  assert.equal(reports.length, 2);
});

test("the remaining entries are written at the end", async () => {
  const { uses, writing, counted } = makeBuffers();
  uses.add(requests(3), at);
  await writing.finish();
  assert.equal(counted(), 3);
});

test("more rows than one flush writes are all written at the end", async () => {
  const { uses, writing, counted } = makeBuffers();
  for (let n = 0; n < 12_000; n += 1) uses.add(requests(1, `api_key_${n}`), at);
  await writing.finish();
  assert.equal(counted(), 12_000);
});

test("the end does not wait for an unavailable database", async () => {
  const { database, uses, writing } = makeBuffers();
  database.isUnavailable = true;
  uses.add(requests(3), at);
  await writing.finish();
});

test("memory is bounded while the database is unavailable, and dropped entries are reported", async () => {
  const { database, reports, uses, log, writing, counted } = makeBuffers();
  database.isUnavailable = true;
  for (let n = 0; n < 60_000; n += 1) uses.add(requests(1, `api_key_${n}`), at);
  for (let second = 0; second < 60; second += 1) log.add(requests(1_000), at + second * 1000);
  assert.ok(reports.some((line) => line.startsWith("the buffer of key usage is full")));
  database.isUnavailable = false;
  while (counted() < 50_000) await writing.flush();
  await writing.flush();
  assert.equal(counted(), 50_000);
  assert.equal(database.rowsOf("request_logs").length, 5_000);
});

test("the request log records a burst of 1,000 requests, and 250 a second after that", async () => {
  const { database, reports, log, writing } = makeBuffers();
  const storedOf = async (count: number, now: number): Promise<number> => {
    const before = database.rowsOf("request_logs").length;
    log.add(requests(count), now);
    await writing.flush();
    return database.rowsOf("request_logs").length - before;
  };
  assert.equal(await storedOf(1_000, at), 1_000);
  assert.equal(await storedOf(1_000, at), 0);
  assert.equal(await storedOf(1_000, at + 1_000), 250);
  assert.equal(await storedOf(1_000, at + 2_000), 250);
  assert.equal(await storedOf(1_000, at + 60_000), 1_000);
  // Setting the clock back adds no capacity.
  assert.equal(await storedOf(10, at - 60_000), 0);
  assert.deepEqual(reports, [
    'the request log omits requests: it records 250 a second {"omitted":1000}',
    'the request log omits requests: it records 250 a second {"omitted":1500}',
  ]);
});

test("each use counts for one minute", async () => {
  const { database, uses, writing } = makeBuffers();
  uses.add(requests(1), at - 1);
  uses.add(requests(2), at);
  uses.add(requests(4), at + 59_999);
  await writing.flush();
  const counts = database.rowsOf("key_usage").map(([, , minute, , , count]) => [minute, count]);
  assert.deepEqual(counts, [
    [at / 60_000 - 1, 1],
    [at / 60_000, 6],
  ]);
});
