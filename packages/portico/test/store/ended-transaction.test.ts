// A transaction whose work times out while a statement runs: what the work does afterwards must not reach the connection,
// which by then may run the transaction of another request.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "../../src/store/postgres/connection.ts";
import { transact } from "../../src/store/postgres/transaction.ts";
import { onEachDatabase } from "../support/server.ts";

onEachDatabase("a transaction that times out", (database) => {
  // On SQLite, a statement ends before the time-out can fire.
  if (database === "sqlite") return;
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
