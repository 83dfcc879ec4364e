// SQLite refuses a result that would fill the memory before building it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../src/errors.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";

test("a value of more than 64 MiB is a validation error, and the connection remains usable", () => {
  const connection = new SqliteConnection(":memory:", 0);
  const many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 700)";
  assert.throws(
    () => connection.all(`${many} select group_concat(printf('%.*c', 100000, 'x')) from n`),
    (error) =>
      error instanceof Problem &&
      error.code === "validation_error" &&
      /too large|larger than 16 MiB/.test(error.message),
  );
  assert.deepEqual(connection.all("select 1"), [[1]]);
  connection.native.close();
});
