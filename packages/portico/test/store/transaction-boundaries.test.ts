// Transactions on PostgreSQL take few round trips: `begin` and `commit` are sent together with statements where that is safe.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Statement, Transaction } from "../../src/store/database.ts";
import { Connection } from "../../src/store/postgres/connection.ts";
import { PostgresDatabase } from "../../src/store/postgres/database.ts";
import { transact } from "../../src/store/postgres/transaction.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";

const statement = (sql: string, options: Partial<Statement<unknown>> = {}): Statement<unknown> => ({
  sql,
  bind: () => [1],
  ...options,
});

const lock = statement("select id from counters where id = $1 for update");
/** As the writes of locked rows: it changes nothing outside the transaction that has locked the row. */
const increment = statement(
  `update counters set count = count + 1
   where id = $1 and pg_current_xact_id_if_assigned() is not null returning count::text`,
  { needsTransaction: true },
);
const nameOfIncrement =
  "select name from pg_prepared_statements where statement like 'update counters set count = count + 1%'";
const insert = statement("insert into counters (id, count) values (7, $1)");

onEachDatabase("boundaries of transactions", (database) => {
  // A transaction of SQLite has no round trips.
  if (database === "sqlite") return;
  let workspace: Workspace;
  let connection: Connection;
  /** What was sent and answered, in order. */
  let log: string[];

  before(async () => {
    workspace = await makeWorkspace(database);
    connection = new Connection(workspace.databaseUrl);
    await connection.run("create table counters (id int primary key, count int)");
    const run = connection.run.bind(connection);
    connection.run = (text) => {
      log.push(text);
      return run(text);
    };
  });
  beforeEach(async () => {
    log = [];
    await connection.run("delete from counters; insert into counters values (1, 0)");
    log = [];
  });
  after(async () => {
    await connection?.close(1);
    await workspace?.remove();
  });

  const run = <T>(work: (session: Transaction) => Promise<T>, limitMs?: number): Promise<T> =>
    transact(
      connection,
      async ({ sql, bind }, input) => {
        log.push(sql.slice(0, 6));
        const rows = await connection.query(sql, bind(input), true);
        log.push("answer");
        return rows;
      },
      work,
      limitMs,
    );
  const counters = async () => [
    ...(await connection.query("select id::text || ':' || count from counters order by id", [], false)),
  ];

  test("two round trips lock a row and update it", async () => {
    const rows = await run(async (session) => {
      await session.query(lock, undefined);
      return session.queryLast(increment, undefined);
    });
    assert.deepEqual(log, ["begin", "select", "answer", "update", "commit", "answer"]);
    assert.deepEqual([rows[0], ...(await counters())], [["1"], ["1:1"]]);
  });

  test("a statement alone needs no transaction, and no statement no round trip", async () => {
    await run((session) => session.queryLast(insert, undefined));
    await run(async () => "nothing");
    assert.deepEqual(log, ["insert", "answer"]);
    assert.deepEqual(await counters(), [["1:0"], ["7:1"]]);
  });

  test("begin is not sent together with a write, nor commit after one", async () => {
    await run(async (session) => {
      await session.query(insert, undefined);
      await session.queryLast(increment, undefined);
    });
    assert.deepEqual(log, ["begin", "insert", "answer", "update", "answer", "commit"]);
    assert.deepEqual(await counters(), [["1:1"], ["7:1"]]);
  });

  test("if the last statement fails, nothing remains", async () => {
    for (const last of [
      statement("update counters set count = 1 / (id - $1) where id = 1", { needsTransaction: true }),
      lock,
    ]) {
      const failing = run(async (session) => {
        await session.query(last === lock ? insert : lock, undefined);
        // The driver does not send a value that is undefined.
        return session.queryLast({ ...last, bind: () => [last === lock ? undefined : 1] }, undefined);
      });
      await assert.rejects(failing);
      assert.deepEqual(await counters(), [["1:0"]]);
    }
  });

  test("a last statement that the driver sends again after the commit changes nothing", async () => {
    const attempt = () =>
      run(async (session) => {
        await session.query(lock, undefined);
        return session.queryLast(increment, undefined);
      });
    await attempt();
    const [[name] = []] = await connection.query(nameOfIncrement, [], false);
    await connection.run(`deallocate "${name}"`);
    await assert.rejects(attempt(), { code: "40001" });
    assert.deepEqual(await counters(), [["1:1"]]);
    await attempt();
    assert.deepEqual(await counters(), [["1:2"]]);
  });

  test("such a transaction is tried again", async () => {
    const open = new PostgresDatabase(workspace.databaseUrl, { slowReadMs: 1000 });
    try {
      let attempts = 0;
      const increase = () =>
        open.transaction(async (session) => {
          attempts += 1;
          await session.query(lock, undefined);
          return session.queryLast(increment, undefined);
        });
      await increase();
      const named = { sql: nameOfIncrement, bind: () => [] };
      const [[name] = []] = await open.transaction((session) => session.query(named, undefined));
      await open.run(`deallocate "${name}"`);
      assert.deepEqual([...(await increase())], [["2"]]);
      assert.equal(attempts, 3);
    } finally {
      await open.close();
    }
  });

  test("the outcome is unknown if the time of the work ends during the commit", async () => {
    const slow = statement(
      `update counters set count = count + 1 where id = $1 and pg_current_xact_id_if_assigned() is not null
       returning pg_sleep(0.3)::text`,
      { needsTransaction: true },
    );
    const ending = run(async (session) => {
      await session.query(lock, undefined);
      return session.queryLast(slow, undefined);
    }, 100);
    await assert.rejects(ending, /may or may not have been applied/);
    assert.deepEqual(await counters(), [["1:1"]]);
  });

  test("nothing can follow the last statement", async () => {
    const late = run(async (session) => {
      await session.query(lock, undefined);
      await session.queryLast(increment, undefined);
      await session.query(insert, undefined);
    });
    await assert.rejects(late);
    await sleep(0);
    assert.deepEqual(await counters(), [["1:1"]]);
  });
});
