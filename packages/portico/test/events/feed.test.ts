// The event feed of a database delivers every event once, in the order of positions, no matter which process wrote it and
// how late it was committed.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { createTenant } from "../../src/auth/tenants/tenant.ts";
import { EventFeed } from "../../src/events/feed.ts";
import { Position } from "../../src/events/position.ts";
import type { RecordedEvent } from "../../src/events/recorded-event.ts";
import { StoredNames } from "../../src/events/stored-names.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, onEachDatabase, Portico, type Workspace } from "../support/server.ts";

const patienceMs = 10_000;
/** Longer than several polls. */
const severalPollsMs = 200;

/** Collects the delivered events, without those that were visible when it began to listen. */
class Listener {
  readonly #events: RecordedEvent[] = [];
  #seen: ReadonlySet<string> = new Set();
  #stop = (): void => {};

  async begin(feed: EventFeed): Promise<void> {
    this.#stop = await feed.listen(async (events) => void this.#events.push(...events));
    this.#seen = await feed.visibleAfter(feed.position);
  }

  get rows(): readonly string[] {
    return this.#events
      .filter(({ position }) => !this.#seen.has(position.toString()))
      .map(({ rowId }) => rowId);
  }

  /** Waits for the last of these rows, then asserts that exactly these were delivered, in this order. */
  async reaches(...rows: readonly string[]): Promise<void> {
    for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(5))
      if (this.rows.at(-1) === rows.at(-1)) break;
    assert.deepEqual(this.rows, rows);
  }

  async end(): Promise<void> {
    this.#stop();
    // The next listener starts from the current position.
    await sleep(100);
  }
}

onEachDatabase("the feed of events", (database) => {
  let workspace: Workspace;
  let store: Store;
  const failures: string[] = [];
  let feed: EventFeed;
  let tenantId: string;
  let tenantNo: number;

  before(async () => {
    workspace = await makeWorkspace(database);
    // Starting a server migrates the database.
    const server = await Portico.start(workspace);
    await server.stop();
    store = await openStore(workspace.databaseUrl);
    tenantId = (await createTenant(store, "Listening")).id;
    tenantNo = (await store.tenants.findNumber(store.database, tenantId))!;
    feed = new EventFeed(store, (message) => failures.push(message), new StoredNames([]));
  });
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  const insertion = (row: string): string =>
    `insert into events (id, tenant_no, resource, kind, row_id, row, credential_id, created_at)
     values ('event_${row}', ${tenantNo}, 'thing', 'thing.created', '${row}', '{}', 'key', '2026-01-01T00:00:00.000Z')`;
  const write = (row: string): Promise<void> => store.database.run(insertion(row));

  async function withListener(work: (listener: Listener) => Promise<void>): Promise<void> {
    const listener = new Listener();
    try {
      await listener.begin(feed);
      await work(listener);
    } finally {
      await listener.end();
    }
  }

  test("events are delivered as they are recorded", () =>
    withListener(async (listener) => {
      for (const row of ["a1", "a2", "a3"]) await write(row);
      await listener.reaches("a1", "a2", "a3");
    }));

  test("more events than one poll reads are all delivered", () =>
    withListener(async (listener) => {
      const rows = Array.from({ length: 600 }, (_, number) => `many${number}`);
      await store.database.run(rows.map(insertion).join(";\n"));
      await listener.reaches(...rows);
    }));

  test("while the table cannot be read, no event is lost", () =>
    withListener(async (listener) => {
      await write("before");
      await sleep(severalPollsMs);
      await store.database.run("alter table events rename to events_away");
      failures.length = 0;
      for (const until = Date.now() + patienceMs; failures.length === 0 && Date.now() < until; )
        await sleep(5);
      assert.equal(failures[0], "events cannot be read; retrying");
      await store.database.run("alter table events_away rename to events");
      await write("after");
      await listener.reaches("before", "after");
    }));

  test("a range of delivered events can be read again", async () => {
    const newest = async (): Promise<Position> => {
      const positions = [...(await feed.visibleAfter(Position.start))].map((text) => Position.parse(text)!);
      return positions.reduce(Position.latest);
    };
    await write("s1");
    const after = await newest();
    await write("s2");
    await write("s3");
    const range = { tenantId, resource: "thing", after, until: await newest() };
    await write("s4");
    const events = await feed.readRange(range);
    assert.deepEqual(
      events.map(({ rowId }) => rowId),
      ["s2", "s3"],
    );
    assert.deepEqual(await feed.readRange({ ...range, tenantId: "other" }), []);
  });

  test("an event that cannot be parsed is reported as skipped, with its number", () => {
    const reports: unknown[] = [];
    const reporting = new EventFeed(store, (...report) => reports.push(report), new StoredNames([]));
    const event = {
      id: "event_7",
      position: new Position(0, 7),
      tenantId: "tenant",
      resource: "thing",
      type: "thing.created",
      rowId: "a",
      row: "{",
      deletedParents: null,
      createdAt: "2026-01-01T00:00:00.000Z",
    };
    const err = new SyntaxError("unexpected end");
    reporting.skip(event, err);
    assert.deepEqual(reports, [["an event cannot be parsed and is skipped", { sequence: 7, err }]]);
  });

  if (database === "sqlite") return;

  test("an event of an earlier transaction that is committed later is waited for", () =>
    withListener(async (listener) => {
      const other = postgres(workspace.databaseUrl, { max: 1 });
      try {
        await write("early");
        await listener.reaches("early");
        await other.begin(async (sql) => {
          await sql.unsafe(insertion("late"));
          await write("next");
          await sleep(severalPollsMs);
          assert.ok(!listener.rows.includes("next"), "later transactions wait");
        });
        await listener.reaches("early", "late", "next");
      } finally {
        await other.end();
      }
    }));

  test("the number of a transaction that was rolled back does not delay later events", () =>
    withListener(async (listener) => {
      const other = postgres(workspace.databaseUrl, { max: 1 });
      try {
        await write("first");
        await assert.rejects(
          other.begin(async (sql) => {
            await sql.unsafe(insertion("never"));
            await write("second");
            throw new Error("rolled back");
          }),
          /rolled back/,
        );
        await listener.reaches("first", "second");
      } finally {
        await other.end();
      }
    }));

  test("events of transactions that were open when a listener began are delivered", async () => {
    const other = postgres(workspace.databaseUrl, { max: 1 });
    const listener = new Listener();
    try {
      await other.begin(async (sql) => {
        await sql.unsafe(insertion("under-way"));
        await write("seen-already");
        await listener.begin(feed);
      });
      await write("last");
      await listener.reaches("under-way", "last");
    } finally {
      await listener.end();
      await other.end();
    }
  });

  test("a lower number of a later transaction is not waited for", () =>
    withListener(async (listener) => {
      const [first, second] = [
        postgres(workspace.databaseUrl, { max: 1 }),
        postgres(workspace.databaseUrl, { max: 1 }),
      ];
      try {
        // The first transaction has the lower id, but its event has the higher number.
        const [low, high] = [await first.reserve(), await second.reserve()];
        await low`begin`;
        await low`select pg_current_xact_id()`;
        await high`begin`;
        await high.unsafe(insertion("slow"));
        await low.unsafe(insertion("quick"));
        await low`commit`;
        await listener.reaches("quick");
        await high`commit`;
        await listener.reaches("quick", "slow");
        low.release();
        high.release();
      } finally {
        // If the test fails, the transactions are still open.
        await Promise.all([first.end({ timeout: 0 }), second.end({ timeout: 0 })]);
      }
    }));

  test("events of random overlapping transactions are delivered once, in one order", () =>
    withListener(async (listener) => {
      const writers = 6;
      const sql = postgres(workspace.databaseUrl, { max: writers });
      const committed = new Set<string>();
      try {
        const writing = Array.from({ length: writers }, async (_, writer) => {
          for (let round = 0; round < 15; round += 1) {
            const rows = [`r${writer}-${round}a`, `r${writer}-${round}b`];
            const isRolledBack = Math.random() < 0.2;
            const work = sql.begin(async (session) => {
              if (Math.random() < 0.5) await session`select pg_current_xact_id()`;
              for (const row of rows) {
                await sleep(Math.random() * 30);
                await session.unsafe(insertion(row));
              }
              await sleep(Math.random() * (round % 5 === 0 ? 300 : 10));
              if (isRolledBack) throw new Error("rolled back");
            });
            if (isRolledBack) await assert.rejects(work, /rolled back/);
            else await work;
            if (!isRolledBack) for (const row of rows) committed.add(row);
          }
        });
        await Promise.all(writing);
        await write("end");
        const rows =
          await sql`select row_id from events where row_id = any(${[...committed]}) order by transaction_id, sequence`;
        await listener.reaches(...rows.map((row) => String(row.row_id)), "end");
        assert.equal(rows.length, committed.size);
      } finally {
        await sql.end();
      }
    }));
});
