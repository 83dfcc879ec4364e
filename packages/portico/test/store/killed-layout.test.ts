// `portico migrate --layout` that is killed at any step, runs twice at once, or fills the disk: the database is of the old
// layout or of the new one, with all rows.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { mock, test } from "node:test";
import { fileURLToPath } from "node:url";
import { simulateFullDisk } from "../support/full-disk.ts";
import { untilDone } from "../support/killed-command.ts";
import { layout1Folder, readTexts, rowsOfLayout, withLayout1 } from "../support/layout-1.ts";
import { onEachDatabase, portico, porticoProcess, type Workspace } from "../support/server.ts";

const words = ["migrate", "--layout", "--yes", "--owner", "first"];
const options = { cwd: layout1Folder };

onEachDatabase("a change of the layout", (database) => {
  const layoutOf = async (workspace: Workspace): Promise<1 | 2> => {
    const columns =
      database === "sqlite"
        ? "select name from pragma_table_info('notes')"
        : "select column_name from information_schema.columns where table_schema = 'public' and table_name = 'notes'";
    return (await readTexts(workspace, columns)).some(([name]) => name === "tenant_no") ? 2 : 1;
  };
  const assertRows = async (workspace: Workspace, expected: unknown): Promise<void> =>
    assert.deepEqual(await rowsOfLayout(await layoutOf(workspace), workspace), expected);

  test(
    "that is killed at any step leaves the old layout or the new one, and is made by the next",
    { timeout: 300_000 },
    () =>
      withLayout1(database, async (workspace) => {
        const rows = await rowsOfLayout(1, workspace);
        const { kills } = await untilDone(workspace, words, options, () => assertRows(workspace, rows));
        assert.ok(kills > 5, String(kills));
        assert.deepEqual(await rowsOfLayout(2, workspace), rows);
        // It may have been killed after its last step.
        const { code, stdout, stderr } = await portico(workspace, ["migrate"], options);
        assert.equal(code, 0, stderr);
        assert.match(stdout, /^The database is up to date/);
        if (database === "sqlite")
          assert.equal(existsSync(`${fileURLToPath(workspace.databaseUrl)}.layout-3`), false);
      }),
  );

  test("runs once if it is started twice", () =>
    withLayout1(database, async (workspace) => {
      const rows = await rowsOfLayout(1, workspace);
      const both = await Promise.all([0, 1].map(() => porticoProcess(workspace, words, options)));
      const changed = both.filter(({ stdout }) => stdout.startsWith("Changed the layout."));
      assert.equal(changed.length, 1, JSON.stringify(both));
      const [other] = both.filter((result) => result !== changed[0]);
      if (other!.code === 0) assert.match(other!.stdout, /^The database has the current layout/);
      else
        assert.match(
          other!.stderr,
          /^portico: the (database|tables) [^\n]*(in use|cannot be opened)[^\n]*\n$/,
        );
      assert.deepEqual(await rowsOfLayout(2, workspace), rows);
      assert.match((await portico(workspace, ["migrate"], options)).stdout, /^The database is up to date/);
    }));

  test("on a disk that fills up leaves the old layout, and is made once there is space", () =>
    withLayout1(database, async (workspace) => {
      const rows = await rowsOfLayout(1, workspace);
      const release = await fillDisk(workspace);
      const { code, stderr } = await portico(workspace, words, options);
      await release();
      assert.equal(code, 1);
      assert.match(
        stderr,
        /^portico: [^\n]*(disk is full|No space left on device)[^\n]*; the database is as it was\n$/,
      );
      assert.equal(await layoutOf(workspace), 1);
      await assertRows(workspace, rows);
      const again = await portico(workspace, words, options);
      assert.equal(again.code, 0, again.stderr);
      assert.deepEqual(await rowsOfLayout(2, workspace), rows);
    }));

  /** Makes the disk too small for the copy. @returns a function that makes space again */
  async function fillDisk({ databaseUrl }: Workspace): Promise<() => Promise<void>> {
    if (database === "sqlite") {
      const { exec } = DatabaseSync.prototype;
      const limited = mock.method(
        DatabaseSync.prototype,
        "exec",
        function (this: DatabaseSync, text: string) {
          Reflect.apply(exec, this, [text]);
          // The new file.
          if (text.includes("journal_mode = off"))
            Reflect.apply(exec, this, ["pragma main.max_page_count = 40"]);
        },
      );
      return async () => limited.mock.restore();
    }
    return simulateFullDisk(databaseUrl, "ALTER TABLE");
  }
});
