// The lease queue, on its own table: due jobs, leases and outcomes.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { type JobOutcome, LeaseQueue } from "../../src/jobs/lease-queue.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import type { Column, Table } from "../../src/store/schema/table.ts";
import type { Store } from "../../src/store/store.ts";
import { refusal } from "../support/refusal.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";
import { insertTenant } from "../support/tenants.ts";

const column = (name: string, type: Column["type"], isNullable = false): Column => ({
  name,
  type,
  isNullable,
  defaultValue: undefined,
  from: "deliveries",
});

const table: Table = {
  name: "deliveries",
  columns: [
    column("tenant_no", "tenant"),
    column("id", "text"),
    column("state", "text"),
    column("attempts", "integer"),
    column("next_attempt_at", "timestamp"),
    column("lease_id", "text", true),
    column("updated_at", "timestamp"),
    column("answer", "text", true),
  ],
  primaryKey: ["tenant_no", "id"],
  indexes: [],
  foreignKeys: [],
  search: undefined,
};

interface Delivery {
  readonly id: string;
}

interface Delivered extends JobOutcome {
  readonly state: "pending" | "done";
  readonly answer: string;
}

const minute = 60_000;
const start = Date.parse("2026-11-21T09:00:00.000Z");
const at = (minutes: number): string => new Date(start + minutes * minute).toISOString();
const lease = (id: string, from: number, until: number) => ({ id, from: at(from), until: at(until) });

onEachDatabase("a lease queue", (database) => {
  let workspace: Workspace;
  let store: Store;
  let queue: LeaseQueue<Delivery, Delivered>;
  const reports: string[] = [];
  const run = async (text: string): Promise<unknown[][]> => {
    const rows = await store.transaction((session) =>
      session.query({ sql: text, bind: () => [] }, undefined),
    );
    return Array.from(rows, (row) => [...row]);
  };
  const add = (id: string, minutes: number, state = "pending"): Promise<unknown> =>
    run(`insert into deliveries (tenant_no, id, state, attempts, next_attempt_at, updated_at)
      values (1, '${id}', '${state}', 0, '${at(minutes)}', '${at(0)}')`);
  const idsOf = (jobs: readonly Delivery[]): string[] => jobs.map(({ id }) => id);
  before(async () => {
    workspace = await makeWorkspace(database);
    store = await openStore(workspace.databaseUrl);
    await migrate(store, [table]);
    await insertTenant(store, "tenant_1");
    const job = database === "sqlite" ? "json_object" : "json_build_object";
    queue = new LeaseQueue(
      store,
      {
        table: table.name,
        isPending: sql`state = 'pending'`,
        job: sql`cast(${sql.raw(job)}('id', id, 'attempts', attempts) as text)`,
        outcomeColumns: {
          state: ({ state }: Delivered) => state,
          answer: ({ answer }: Delivered) => answer,
        },
        jobName: "a delivery",
      },
      (message) => reports.push(message),
    );
  });
  beforeEach(() => run("delete from deliveries"));
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  test("due jobs are leased in the order in which they became due, up to the count", async () => {
    await add("late", 3);
    await add("early", 1);
    await add("future", 10);
    await add("finished", 1, "done");
    assert.equal(await queue.isAnyDue(at(0)), false);
    assert.equal(await queue.isAnyDue(at(1)), true);
    const [first, ...more] = await queue.lease(1, lease("one", 5, 7));
    assert.deepEqual(first, {
      id: "early",
      attempts: 1,
      tenantId: "tenant_1",
      lease: lease("one", 5, 7),
    });
    assert.equal(more.length, 0);
    assert.deepEqual(idsOf(await queue.lease(10, lease("two", 5, 7))), ["late"]);
  });

  test("a leased job is not due again until the lease ends", async () => {
    await add("job", 0);
    assert.deepEqual(idsOf(await queue.lease(10, lease("one", 0, 2))), ["job"]);
    assert.equal(await queue.isAnyDue(at(1)), false);
    assert.deepEqual(await queue.lease(10, lease("two", 1, 3)), []);
    const [again] = await queue.lease(10, lease("two", 2, 4));
    assert.equal(again?.attempts, 2);
  });

  test("an outcome completes the job or schedules a retry", async () => {
    await add("job", 0);
    const [first] = await queue.lease(1, lease("one", 0, 2));
    await queue.complete(first!, { state: "pending", answer: "503", at: at(1), nextAttemptAt: at(5) });
    assert.equal(await queue.isAnyDue(at(4)), false);
    const [second] = await queue.lease(1, lease("two", 5, 7));
    assert.equal(second?.attempts, 2);
    await queue.complete(second!, { state: "done", answer: "200", at: at(6) });
    assert.equal(await queue.isAnyDue(at(100)), false);
    const rows = await run("select state, answer, attempts, lease_id from deliveries");
    assert.deepEqual(
      rows.map(([state, answer, attempts, leaseId]) => [state, answer, Number(attempts), leaseId]),
      [["done", "200", 2, null]],
    );
  });

  test("only the holder of the lease can record an outcome", async () => {
    await add("job", 0);
    const [slow] = await queue.lease(1, lease("slow", 0, 1));
    const [other] = await queue.lease(1, lease("other", 2, 4));
    await queue.complete(slow!, { state: "done", answer: "too late", at: at(3) });
    assert.deepEqual(await run("select state, lease_id from deliveries"), [["pending", "other"]]);
    await queue.complete(other!, { state: "done", answer: "200", at: at(3) });
    assert.deepEqual(await run("select state, answer from deliveries"), [["done", "200"]]);
  });

  test("processes that lease at the same time share the jobs", async () => {
    for (let index = 0; index < 20; index += 1) await add(`job${index}`, 0);
    const leased = await Promise.all(
      ["one", "two", "three", "four"].map((id) => queue.lease(5, lease(id, 1, 2))),
    );
    const ids = leased.flatMap(idsOf);
    assert.equal(new Set(ids).size, ids.length);
    // PostgreSQL skips locked rows, which the next call returns.
    for (let more = await queue.lease(20, lease("five", 1, 2)); more.length > 0; more = [])
      ids.push(...idsOf(more));
    assert.equal(new Set(ids).size, 20);
  });

  test("a job whose update the database rejects is reported and skipped", async () => {
    await add("poison", 0);
    await add("good", 1);
    const text = refusal(database, "update", "deliveries", "new.id = 'poison'");
    const parts = database === "sqlite" ? [text] : text.split(/;\s*(?=create trigger)/);
    for (const part of parts) await run(part);
    assert.deepEqual(idsOf(await queue.lease(10, lease("one", 2, 4))), ["good"]);
    assert.deepEqual(reports, [
      "the database rejects the update of a delivery; it is skipped and tried again",
    ]);
  });
});
