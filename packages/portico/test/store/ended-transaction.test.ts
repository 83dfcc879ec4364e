// A transaction whose work times out while a statement runs: what the work does afterwards must not reach the connection,
// which by then may run the transaction of another request.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Connection } from "../../src/store/postgres/connection.ts";
import { transact } from "../../src/store/postgres/transaction.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import type { DatabaseFile } from "../../src/store/sqlite/database-file.ts";
import { GroupCommitWriter } from "../../src/store/sqlite/group-commit.ts";
import { makeWorkspace, onEachDatabase } from "../support/server.ts";

onEachDatabase("a transaction that times out", (database) => {
  // On SQLite, a statement ends before the time-out can fire, but code under a savepoint may go on.
  if (database === "sqlite") {
    test("leaves the savepoints of the next transaction alone", async () => {
      const workspace = await makeWorkspace(database);
      const connection = new SqliteConnection(join(workspace.folder, "test.db"), 1_000);
      const file = { isInPlace: () => true } as DatabaseFile;
      const writer = new GroupCommitWriter(connection, file, () => {});
      try {
        connection.native.exec("create table t (a)");
        const insert = { sql: "insert into t values (1)", bind: () => [] };
        const isOpen = Promise.withResolvers<void>();
        const hasFailed = Promise.withResolvers<void>();
        const tooLong = writer.write(
          async (session) => {
            await session
              .nested(async () => {
                await isOpen.promise;
                throw new Error("the work failed");
              })
              .finally(hasFailed.resolve);
          },
          { limitMs: 50 },
        );
        const next = writer.write((session) =>
          session.nested(async (part) => {
            await part.query(insert, undefined);
            isOpen.resolve();
            await hasFailed.promise;
          }),
        );
        await assert.rejects(tooLong, /The write took too long/);
        await next;
        assert.deepEqual(connection.all("select a from t"), [[1]]);
      } finally {
        await writer.close();
        await workspace.remove();
      }
    });
    return;
  }
  for (const [what, sql] of [
    ["fails", "select 1 / (case when pg_sleep(0.3) is null then 1 else 0 end)"],
    ["ends", "select pg_sleep(0.3)"],
  ])
    test(`sends nothing after its rollback once its statement ${what}`, async () => {
      const connection = new Connection(`${process.env.PORTICO_TEST_POSTGRES}/postgres`);
      // The time to open a connection is no part of the test.
      await connection.run("select 1");
      const run = connection.run.bind(connection);
      const sent: string[] = [];
      connection.run = (text) => {
        sent.push(text);
        return run(text);
      };
      try {
        const settled = Promise.withResolvers<void>();
        const transaction = transact(
          connection,
          (statement, input) => connection.query(statement.sql, statement.bind(input), false),
          async (session) => {
            try {
              await session.nested(async (part) => {
                await part.query({ sql: sql!, bind: () => [] }, undefined);
                throw new Error("the work failed");
              });
            } finally {
              settled.resolve();
            }
          },
          50,
        );
        await assert.rejects(transaction, /The write took too long/);
        await settled.promise;
        assert.deepEqual(sent, ["begin", "savepoint part_0", "rollback"]);
      } finally {
        await connection.close(1);
      }
    });
});
