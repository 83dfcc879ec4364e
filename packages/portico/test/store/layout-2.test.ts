// `portico migrate --layout` on a SQLite database whose rows store `updated_at` even if they were never updated.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { updatedAtDefinitions } from "../../src/store/sqlite/table-definitions.ts";
import { storedUpdatedAt } from "../../src/store/update-time.ts";
import { openReader, writeDirectly } from "../support/database-reader.ts";
import { untilDone } from "../support/killed-command.ts";
import { layout1Folder, readTexts, recorded, rowsOfLayout } from "../support/layout-1.ts";
import { answersOf, schemaOf, tablesOfApp, withLayout2 } from "../support/layout-2.ts";
import { Portico, portico, porticoProcess, type Workspace } from "../support/server.ts";

const options = { cwd: layout1Folder };
const words = ["migrate", "--layout", "--yes"];
const migrate = (workspace: Workspace, ...more: string[]) =>
  portico(workspace, ["migrate", ...more], options);
const rowsOf = (workspace: Pick<Workspace, "databaseUrl">) => rowsOfLayout(2, workspace);
const fileOf = ({ databaseUrl }: Workspace): string => fileURLToPath(databaseUrl);

/** How many rows of a table store a time of an update. */
const storedTimes = async (workspace: Workspace, table: string): Promise<number> =>
  Number((await readTexts(workspace, `select count(${storedUpdatedAt}) from ${table}`))[0]![0]);

test("a database of layout 2 is refused by migrate and at the start, which name the command", () =>
  withLayout2(async (workspace) => {
    const { code, stderr } = await migrate(workspace);
    assert.equal(code, 1);
    assert.match(stderr, /^portico: the database has the layout .* portico migrate --layout\n$/);
    await assert.rejects(Portico.start(workspace, options), /portico migrate --layout/);
  }));

test("a database of layout 2 has the same rows and answers afterwards, and stores the times of updates only", () =>
  withLayout2(async (workspace, { answers, schema }) => {
    const rows = await rowsOf(workspace);
    const [[updated]] = (await readTexts(
      workspace,
      "select count(*) from notes where updated_at <> created_at",
    )) as [[string]];
    assert.ok(Number(updated) > 0);
    const { code, stdout, stderr } = await migrate(workspace, "--layout", "--yes", "--json");
    assert.equal(code, 0, stderr);
    const { isChanged, backup } = JSON.parse(stdout);
    assert.deepEqual([isChanged, backup], [true, `${fileOf(workspace)}.layout-2`]);
    assert.deepEqual(await rowsOf(workspace), rows);
    assert.deepEqual(await rowsOf({ databaseUrl: `file:${backup}` }), rows);
    assert.deepEqual(await Promise.all(tablesOfApp.map((table) => storedTimes(workspace, table))), [
      0,
      Number(updated),
      0,
    ]);
    const reader = openReader(workspace.databaseUrl);
    assert.deepEqual(await reader.faults(), []);
    await reader.close();
    assert.match((await migrate(workspace)).stdout, /^The database is up to date/);
    assert.match((await migrate(workspace, "--layout")).stdout, /^The database has the current layout/);
    assert.deepEqual(await schemaOf(workspace), schema);
    assert.deepEqual(await answersOf(workspace), answers);
    // The search index is in the copy, and is written as before.
    const server = await Portico.start(workspace, options);
    try {
      const { key } = recorded[0]!;
      const body = { title: "Zanzibar" };
      const created = await server.request("/notes", { method: "POST", body, key });
      assert.equal(created.body.updatedAt, created.body.createdAt);
      assert.equal((await server.request("/notes?q=zanzibar", { key })).body.data.length, 1);
      assert.equal(await storedTimes(workspace, "notes"), Number(updated));
      const path = `/notes/${created.body.id}`;
      const changed = await server.request(path, { method: "PATCH", body: { title: "Lamu" }, key });
      assert.ok(changed.body.updatedAt > created.body.createdAt);
      assert.equal(await storedTimes(workspace, "notes"), Number(updated) + 1);
    } finally {
      await server.stop();
    }
  }));

test("a change of layout 2 keeps what was added by hand, and runs no trigger", () =>
  withLayout2(async (workspace) => {
    const write = (text: string): Promise<void> => writeDirectly(workspace.databaseUrl, text);
    const read = (text: string): Promise<unknown[][]> => readTexts(workspace, text);
    await write("create table changes (of text)");
    await write("create trigger one after update on NOTES begin insert into changes values ('row'); end");
    await write(
      "create trigger two AFTER UPDATE /* of */ OF title, [updated_at] on notes begin insert into changes values ('time'); end",
    );
    await write("create index by_hand on notes (updated_at, title)");
    await write("alter table drafts add column deleted_with text");
    await write("create table plain (body text)");
    await write("insert into plain (rowid, body) values (7, 'gamma')");
    await write("create virtual table plain_words using fts5(body, content='plain')");
    await write("insert into plain_words (plain_words) values ('rebuild')");
    assert.equal((await migrate(workspace, "--layout", "--yes")).code, 0);
    assert.deepEqual(await read("select of from changes"), []);
    assert.equal(await storedTimes(workspace, "drafts"), 0);
    assert.deepEqual(
      await read("select body from plain where rowid = (select rowid from plain_words('gamma'))"),
      [["gamma"]],
    );
    const count = await read("select count(*) from notes");
    await write("update notes set rank = 1");
    assert.deepEqual(await read("select count(*) from changes where of = 'row'"), count);
    await write(`update notes set ${storedUpdatedAt} = created_at`);
    assert.deepEqual(await read("select count(*) from changes where of = 'time'"), count);
    assert.deepEqual(
      await read("select count(*) from notes indexed by by_hand where updated_at > ''"),
      count,
    );
    await write("alter table notes add column loud text not null generated always as (upper(title)) virtual");
    assert.match((await migrate(workspace)).stdout, /^The database is up to date/);
  }));

test("a change of layout 2 leaves a table that is not Portico's, and refuses a declared one that was redefined", () =>
  withLayout2(async (workspace) => {
    const time = "'2026-01-01T00:00:00.000Z'";
    await writeDirectly(
      workspace.databaseUrl,
      "create table mine (tenant_no integer, id text, created_at text, updated_at text)",
    );
    await writeDirectly(workspace.databaseUrl, `insert into mine values (1, 'one', ${time}, ${time})`);
    const redefine = (definition: string, other: string): void => {
      const file = new DatabaseSync(fileOf(workspace), { defensive: false });
      file.exec(`pragma writable_schema = on;
        update sqlite_schema set sql = replace(sql, '${definition}', '${other}') where name = 'remarks'`);
      file.close();
    };
    const optional = '"updated_at" timestamp_text';
    redefine(updatedAtDefinitions.stored, optional);
    const rows = await rowsOf(workspace);
    const { code, stderr } = await migrate(workspace, "--layout", "--yes");
    assert.equal(code, 1);
    assert.match(stderr, /^portico: the table remarks does not define .* as it was\n$/);
    assert.deepEqual(await rowsOf(workspace), rows);
    assert.equal(existsSync(`${fileOf(workspace)}.layout-3`), false);
    redefine(optional, updatedAtDefinitions.stored);
    assert.equal((await migrate(workspace, "--layout", "--yes")).code, 0);
    assert.deepEqual(await rowsOf(workspace), rows);
    assert.deepEqual(await readTexts(workspace, "select updated_at from mine"), [
      ["2026-01-01T00:00:00.000Z"],
    ]);
  }));

test("a change of layout 2 refuses triggers that set updated_at, and names them", () =>
  withLayout2(async (workspace) => {
    const write = (text: string): Promise<void> => writeDirectly(workspace.databaseUrl, text);
    const body = "begin update notes set title = upper(title), updated_at = 'now' where id = new.id; end";
    const triggers = new Map([
      ["stamp", `after update of title on notes ${body}`],
      ["touch", `after insert on remarks ${body}`],
      ["from_view", `instead of delete on shown ${body.replace("new.id", "old.id")}`],
    ]);
    await write("create view shown as select id, title from notes");
    await write("create trigger broken after insert on drafts begin select nowhere(1); end");
    for (const [name, text] of triggers) {
      await write(`create trigger "${name}" ${text}`);
      const rows = await rowsOf(workspace);
      const { code, stderr } = await migrate(workspace, "--layout", "--yes");
      assert.equal(code, 1);
      assert.match(
        stderr,
        new RegExp(`^portico: writes to \\w+ would fail .* \\(${name}\\),.* as it was\n$`),
      );
      assert.deepEqual(await rowsOf(workspace), rows);
      await write(`drop trigger "${name}"`);
    }
    await write(`create trigger reader after update on notes begin select new.updated_at; end`);
    assert.equal((await migrate(workspace, "--layout", "--yes")).code, 0);
    await write("update notes set title = 'read'");
  }));

test("a change of layout 2 that is killed at any step is made by the next", { timeout: 300_000 }, () =>
  withLayout2(async (workspace) => {
    const rows = await rowsOf(workspace);
    const { kills } = await untilDone(workspace, words, options, async () =>
      assert.deepEqual(await rowsOf(workspace), rows),
    );
    assert.ok(kills > 5, String(kills));
    assert.deepEqual(await rowsOf(workspace), rows);
    assert.match((await migrate(workspace)).stdout, /^The database is up to date/);
    assert.equal(existsSync(`${fileOf(workspace)}.layout-3`), false);
  }),
);

test("a change of layout 2 runs once if it is started twice, and not while a server runs", () =>
  withLayout2(async (workspace) => {
    const rows = await rowsOf(workspace);
    const other = new DatabaseSync(fileOf(workspace));
    other.exec("pragma journal_mode = wal; select count(*) from tenants");
    assert.match((await migrate(workspace, "--layout", "--yes")).stderr, /in use .*stop the servers/);
    other.close();
    const both = await Promise.all([0, 1].map(() => porticoProcess(workspace, words, options)));
    const changed = both.filter(({ stdout }) => stdout.startsWith("Changed the layout."));
    assert.equal(changed.length, 1, JSON.stringify(both));
    assert.deepEqual(await rowsOf(workspace), rows);
    assert.match((await migrate(workspace)).stdout, /^The database is up to date/);
  }));
