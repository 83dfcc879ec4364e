// On PostgreSQL, events are delivered in the order of their transactions: a transaction of any length, in any process, is
// waited for, and one of another database is not.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import postgres from "postgres";
import { positionAfter } from "../../src/events/event-search.ts";
import { EventFeed, type FeedOptions } from "../../src/events/feed.ts";
import { forgetRestoredTransactions } from "../../src/events/horizon.ts";
import { Position } from "../../src/events/position.ts";
import { StoredNames } from "../../src/events/stored-names.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { randomRuns } from "../support/random-runs.ts";
import { makeWorkspace, Portico, type Workspace, whyNoPostgres } from "../support/server.ts";

test("positions sort by transaction, then by number, and are read as they are written", () => {
  const positions = ["0", "7", "8", "3-2", "3-10", "20-1"].map((text) => Position.parse(text)!);
  assert.deepEqual(
    positions.toReversed().sort((one, other) => (one.isAfter(other) ? 1 : -1)),
    positions,
  );
  assert.deepEqual(positions.map(String), ["0", "7", "8", "3-2", "3-10", "20-1"]);
  for (const text of ["", "-1", "1-", "-", "1-2-3", "x", "1e3", "9".repeat(16)])
    assert.equal(Position.parse(text), undefined, text);
  // One between transactions has a text, too.
  const between = Position.parse(String(Position.before(3)))!;
  assert.ok(between.isAfter(new Position(2, 1e9)) && new Position(3, 1).isAfter(between));
});

const patienceMs = 20_000;

describe("positions of events (PostgreSQL)", { skip: whyNoPostgres() }, () => {
  let workspace: Workspace;
  let elsewhere: Workspace;
  /** Those of two processes. */
  let stores: readonly Store[];
  let sql: postgres.Sql;

  before(async () => {
    [workspace, elsewhere] = await Promise.all([makeWorkspace("postgres"), makeWorkspace("postgres")]);
    await (await Portico.start(workspace)).stop();
    stores = [await openStore(workspace.databaseUrl), await openStore(workspace.databaseUrl)];
    sql = postgres(workspace.databaseUrl, { max: 12 });
  });
  after(async () => {
    await sql?.end();
    for (const { database } of stores ?? []) await database.close();
    await Promise.all([workspace?.remove(), elsewhere?.remove()]);
  });

  const insertion = (row: string): string =>
    `insert into events (id, tenant_no, resource, kind, row_id, row, credential_id, created_at)
     values ('event_${row}', (select min(no) from tenants), 'thing', 'thing.created', '${row}', '{}', 'key', '2026-01-01T00:00:00.000Z')`;

  /** What a feed delivers, from the start of the listener on. */
  class Received {
    readonly rows: string[] = [];
    readonly reports: [string, object][] = [];
    readonly #feed: EventFeed;
    #stop = (): void => {};

    constructor(store: Store, options?: Partial<FeedOptions>) {
      const report = (message: string, details?: object): void =>
        void this.reports.push([message, details ?? {}]);
      this.#feed = new EventFeed(store, report, new StoredNames([]), options);
    }

    async begin(): Promise<this> {
      this.#stop = await this.#feed.listen(async (events) => {
        for (const { rowId } of events) if (rowId !== "before") this.rows.push(rowId);
      });
      return this;
    }

    async until(isReached: () => boolean): Promise<void> {
      for (const until = Date.now() + patienceMs; Date.now() < until && !isReached(); ) await sleep(5);
    }

    async end(): Promise<void> {
      this.#stop();
    }
  }

  const transaction = fc.record({
    /** Whether it has its number before it writes. */
    isNumbered: fc.boolean(),
    startMs: fc.integer({ min: 0, max: 60 }),
    /** The pause before each event. */
    pausesMs: fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 4 }),
    /** Some last much longer than the others. */
    commitMs: fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 0, max: 15 }) },
      { weight: 1, arbitrary: fc.integer({ min: 100, max: 500 }) },
    ),
    isRolledBack: fc.boolean(),
  });
  const scenario = fc.array(transaction, { minLength: 2, maxLength: 12 });
  let run = 0;

  test("every committed event is delivered once to each listener, in one order, whatever the transactions", () =>
    fc.assert(
      fc.asyncProperty(scenario, async (transactions) => {
        run += 1;
        const received = await Promise.all(
          // The time-outs are scaled with the lengths of the transactions.
          stores.map((store) => new Received(store, { foreignLookupMs: 20, longWaitMs: 50 }).begin()),
        );
        const committed = new Set<string>();
        // If PostgreSQL analyzes a table when a listener begins, its transaction lets events of the run before through. A
        // subscription skips them (`visibleAfter`).
        const ofRun = ({ rows }: Received): string[] => rows.filter((row) => row.startsWith(`${run}.`));
        try {
          await Promise.all(
            transactions.map(async ({ isNumbered, startMs, pausesMs, commitMs, isRolledBack }, number) => {
              const rows = pausesMs.map((_, event) => `${run}.${number}.${event}`);
              await sleep(startMs);
              const working = sql.begin(async (session) => {
                if (isNumbered) await session`select pg_current_xact_id()`;
                for (const [index, row] of rows.entries()) {
                  await sleep(pausesMs[index]);
                  await session.unsafe(insertion(row));
                }
                await sleep(commitMs);
                if (isRolledBack) throw new Error("rolled back");
              });
              if (isRolledBack) return assert.rejects(working, /rolled back/);
              await working;
              for (const row of rows) committed.add(row);
            }),
          );
          for (const each of received) await each.until(() => ofRun(each).length >= committed.size);
          // Nothing comes twice.
          await sleep(60);
        } finally {
          for (const each of received) await each.end();
        }
        const [first, second] = received.map(ofRun);
        assert.deepEqual(first!.toSorted(), [...committed].sort());
        assert.deepEqual(second, first);
      }),
      { numRuns: randomRuns(12, 6), endOnFailure: true },
    ));

  test("a transaction that commits much later than later numbers is waited for, and reported", async () => {
    const received = await new Received(stores[0]!, { foreignLookupMs: 10, longWaitMs: 50 }).begin();
    const late = await sql.reserve();
    try {
      await late`begin`;
      await late.unsafe(insertion("late"));
      for (const row of ["next1", "next2"]) await sql.unsafe(insertion(row));
      const [{ pid }] = (await late`select pg_backend_pid() as pid`) as unknown as [{ pid: number }];
      await received.until(() => received.reports.length > 0);
      // Twenty times as long as it takes until the wait is reported.
      await sleep(1_000);
      assert.deepEqual(received.rows, []);
      const [[message, details] = [], ...more] = received.reports;
      assert.equal(message, "events wait for a transaction that has not ended");
      assert.equal((details as { pid: number }).pid, pid);
      assert.deepEqual(more, []);
      await late`commit`;
      await received.until(() => received.rows.length === 3);
      assert.deepEqual(received.rows, ["late", "next1", "next2"]);
    } finally {
      late.release();
      await received.end();
    }
  });

  test("a transaction that has written nothing here yet is waited for, and one of another database is not", async () => {
    const other = postgres(elsewhere.databaseUrl, { max: 1 });
    const received = await new Received(stores[0]!).begin();
    const foreign = await other.reserve();
    const own = await sql.reserve();
    try {
      await foreign`begin`;
      await foreign`select pg_current_xact_id()`;
      await own`begin`;
      await own`select pg_current_xact_id()`;
      await sql.unsafe(insertion("second"));
      await sleep(1_500);
      assert.deepEqual(received.rows, []);
      await own.unsafe(insertion("first"));
      await own`commit`;
      await received.until(() => received.rows.length === 2);
      assert.deepEqual(received.rows, ["first", "second"]);
      const [{ ended }] =
        (await foreign`select pg_current_xact_id_if_assigned() is null as ended`) as unknown as [
          { ended: boolean },
        ];
      assert.equal(ended, false, "the transaction of the other database is still open");
      assert.deepEqual(received.reports, []);
      // A listener that begins meanwhile gets neither the earlier events nor fewer of the later ones.
      const later = await new Received(stores[1]!).begin();
      await sql.unsafe(insertion("third"));
      await later.until(() => later.rows.length > 0);
      assert.deepEqual(later.rows, ["third"]);
      await later.end();
      await foreign`rollback`;
    } finally {
      foreign.release();
      own.release();
      await received.end();
      await other.end({ timeout: 0 });
    }
  });

  test("the position after a time waits for a transaction that is in progress, as the one without a time does", async () => {
    const earlier = await sql.reserve();
    await earlier`begin`;
    await earlier`select pg_current_xact_id()`;
    await sql.unsafe(insertion("read"));
    const [{ transaction, sequence }] =
      (await sql`select transaction_id as transaction, sequence from events where row_id = 'read'`) as unknown as [
        { transaction: string; sequence: string },
      ];
    const { database } = stores[0]!;
    let isOpen = true;
    const query: typeof database.query = async (statement, input) => {
      const rows = await database.query(statement, input);
      // The transaction ends once the reader has seen that it is in progress.
      if (isOpen && statement.sql.includes("pg_locks")) {
        isOpen = false;
        await earlier`commit`;
      }
      return rows;
    };
    const watched = { ...stores[0]!, database: { ...database, isRemote: true, query } } as Store;
    try {
      const position = await positionAfter(watched, Date.now());
      assert.ok(!new Position(Number(transaction), Number(sequence)).isAfter(position), String(position));
      assert.equal(isOpen, false);
    } finally {
      earlier.release();
    }
  });

  test("events from before the migration come first, and a process of the earlier version writes positions", async () => {
    const upgraded = await makeWorkspace("postgres");
    const earlier = postgres(upgraded.databaseUrl, { max: 1, onnotice: () => {} });
    try {
      await (await Portico.start(upgraded)).stop();
      await earlier`delete from events`;
      await earlier`alter table events drop column transaction_id`;
      await earlier`alter table purged_events drop column transaction_id`;
      for (const row of ["old1", "old2"]) await earlier.unsafe(insertion(row));
      await (await Portico.start(upgraded, { key: "known" })).stop();
      for (const row of ["new1", "new2"]) await earlier.unsafe(insertion(row));
      const rows =
        await earlier`select row_id, transaction_id::int as id from events order by transaction_id, sequence`;
      assert.deepEqual(
        rows.map((row) => row.row_id),
        ["old1", "old2", "new1", "new2"],
      );
      const [old1, old2, new1, new2] = rows.map(({ id }) => Number(id));
      assert.deepEqual([old1, old2], [0, 0]);
      assert.ok(new1! > 0 && new2! > new1!);
      const indexes =
        await earlier`select indexname from pg_indexes where indexname like 'portico_events%' order by 1`;
      assert.deepEqual(
        indexes.map(({ indexname }) => indexname),
        ["portico_events_position", "portico_events_resource_position"],
      );
    } finally {
      await earlier.end();
      await upgraded.remove();
    }
  });

  test("events that were restored from a dump of another server precede those that are written now", async () => {
    await sql.unsafe(insertion("before"));
    await sql`update events set transaction_id = 900000000000 where row_id = 'before'`;
    const [{ sequence }] = (await sql`select sequence from events where row_id = 'before'`) as unknown as [
      { sequence: string },
    ];
    await forgetRestoredTransactions(stores[0]!);
    const received = await new Received(stores[0]!).begin();
    await sql.unsafe(insertion("restored"));
    await received.until(() => received.rows.length === 1);
    assert.deepEqual(received.rows, ["restored"]);
    const feed = new EventFeed(stores[0]!, () => {}, new StoredNames([]));
    const kept = Position.parse(`900000000000-${sequence}`)!;
    assert.equal(String(await feed.resumedAt(kept)), sequence);
    assert.equal(await feed.resumedAt(new Position(0, Number(sequence) + 1_000)), undefined);
    await received.end();
  });
});
