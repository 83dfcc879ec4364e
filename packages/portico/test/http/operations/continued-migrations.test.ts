// A migration that applies a plan or drops something, and is killed at any step, is continued by the same command.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { openReader, updatedAtColumn } from "../../support/database-reader.ts";
import { untilDone } from "../../support/killed-command.ts";
import { makeTenant } from "../../support/scenario.ts";
import {
  type CommandResult,
  makeWorkspace,
  onEachDatabase,
  portico,
  type Workspace,
} from "../../support/server.ts";

const [before, after] = ["version-1", "version-3"].map((name) =>
  resolve(import.meta.dirname, "../../fixtures", name),
) as [string, string];
/** More than two batches. */
const rowCount = 550;

onEachDatabase("a migration that is killed at any step", (database) => {
  let workspace: Workspace;
  const migrate = (...words: string[]): Promise<CommandResult> =>
    portico(workspace, ["migrate", ...words], { cwd: after });
  const file = (): string => join(workspace.folder, "plan.json");
  const plan = async (...words: string[]): Promise<void> => {
    const { code, stdout, stderr } = await migrate("--plan", ...words);
    assert.equal(code, 0, stderr);
    writeFileSync(file(), stdout);
  };
  const withReader = async <T>(work: (reader: ReturnType<typeof openReader>) => Promise<T>): Promise<T> => {
    const reader = openReader(workspace.databaseUrl);
    try {
      return await work(reader);
    } finally {
      await reader.close();
    }
  };

  beforeEach(async () => {
    workspace = await makeWorkspace(database);
    const { code, stderr } = await portico(workspace, ["migrate"], { cwd: before });
    assert.equal(code, 0, stderr);
    await makeTenant(workspace, "*", { cwd: before });
    const time = database === "sqlite" ? "'2026-01-01T00:00:00.000Z'" : "timestamptz '2026-01-01'";
    const rows = Array.from(
      { length: rowCount },
      (_, row) =>
        `(1, 'article_${1000 + row}', 'Row ${row}', null, 'small', ${row}, ' row ${row}', ${time}, ${time})`,
    );
    await withReader((reader) =>
      reader.write(
        `insert into articles (tenant_no, id, name, code, size, stock, search_words, created_at, ${updatedAtColumn(database)}) values ${rows.join(", ")}`,
      ),
    );
  });
  afterEach(() => workspace?.remove());

  test("continues to apply its plan", { timeout: 300_000 }, async () => {
    await plan("--keep", "articles.size");
    const apply = ["migrate", "--apply", file()];
    const { kills } = await untilDone(workspace, apply, { cwd: after });
    assert.ok(kills > 3, String(kills));
    await withReader(async (reader) => {
      const filled = await reader.rows(
        "select count(*) from articles where price = stock * 1.5 and kind = 'ink' and code = id",
      );
      assert.equal(Number(filled[0]![0]), rowCount);
      assert.deepEqual(await reader.faults(), []);
    });
    assert.deepEqual(JSON.parse((await migrate("--json")).stdout).statements, []);
    const again = await portico(workspace, apply, { cwd: after });
    assert.match(again.stderr, /^portico: the schema of the database has changed since the plan was made/);
  });

  test("continues a contraction that drops a field", { timeout: 300_000 }, async () => {
    assert.equal((await migrate("--keep", "articles.size")).code, 0);
    const contract = ["migrate", "--contract", "--drop", "articles.size", "--yes"];
    const { kills } = await untilDone(workspace, contract, {
      cwd: after,
      // It was killed when it had dropped the field, and had nothing left to do.
      isDone: ({ code, stderr }) => code === 0 || /has no column size/.test(stderr),
    });
    assert.ok(kills > 2, String(kills));
    assert.deepEqual(JSON.parse((await migrate("--contract", "--json")).stdout).statements, []);
    assert.match((await migrate("--drop", "articles.size", "--yes")).stderr, /has no column size/);
    await withReader(async (reader) => {
      assert.deepEqual(await reader.rows("select * from articles where price is null or code is null"), []);
      assert.deepEqual(await reader.faults(), []);
    });
  });
});
