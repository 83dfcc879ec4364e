// `portico migrate --layout` on a database that an earlier version made: everything is as before, or nothing has changed.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { verifyPassword } from "../../src/auth/users/password.ts";
import { changeLayout } from "../../src/store/layout/change-layout.ts";
import { openReader } from "../support/database-reader.ts";
import {
  layout1Folder as folder,
  readTexts,
  recorded,
  rowsOfLayout,
  tablesWithTenant,
  withLayout1,
} from "../support/layout-1.ts";
import { onEachDatabase, Portico, portico, type Workspace } from "../support/server.ts";

/** Users have roles since. */
const owners = ["--owner", "first"];

onEachDatabase("a database of layout 1", (database) => {
  const using = (work: (workspace: Workspace) => Promise<void>): Promise<void> => withLayout1(database, work);
  const migrate = (workspace: Workspace, ...options: string[]) =>
    portico(workspace, ["migrate", ...options], { cwd: folder });
  const read = readTexts;
  const before = (workspace: Workspace) => rowsOfLayout(1, workspace);
  const after = (workspace: Workspace) => rowsOfLayout(2, workspace);

  const assertAnswers = async (workspace: Workspace): Promise<void> => {
    const server = await Portico.start(workspace, { cwd: folder });
    try {
      for (const { key, answers } of recorded)
        for (const [path, { status, etag, data }] of Object.entries(answers)) {
          const answer = await server.request(path.replace(/^\/v1/, ""), { key });
          assert.equal(answer.status, status, path);
          const actual = answer.body.data ?? answer.body;
          // Users have more fields since, and clients have an owner.
          if (path === "/v1/users") assert.partialDeepStrictEqual(actual, data, path);
          else if (path === "/v1/oauth-clients")
            assert.deepEqual(
              actual,
              (data as readonly object[]).map((row) => ({ ...row, ownerId: null })),
              path,
            );
          else assert.deepEqual([actual, answer.headers.get("etag")], [data, etag], path);
        }
    } finally {
      await server.stop();
    }
  };

  test("is refused by migrate and at the start, which name the command", () =>
    using(async (workspace) => {
      const { code, stderr } = await migrate(workspace);
      assert.equal(code, 1);
      assert.match(stderr, /^portico: the database has the layout .* portico migrate --layout\n$/);
      await assert.rejects(Portico.start(workspace, { cwd: folder }), /portico migrate --layout/);
    }));

  test("is not changed without a confirmation", () =>
    using(async (workspace) => {
      const { code, stderr } = await migrate(workspace, "--layout");
      assert.equal(code, 1);
      assert.match(stderr, /Confirm it with --yes/);
      assert.equal((await migrate(workspace)).code, 1);
    }));

  test("has the same rows, answers and credentials afterwards", () =>
    using(async (workspace) => {
      const rows = await before(workspace);
      const { code, stdout, stderr } = await migrate(workspace, "--layout", "--yes", "--json", ...owners);
      assert.equal(code, 0, stderr);
      const { isChanged, backup } = JSON.parse(stdout);
      assert.equal(isChanged, true);
      assert.deepEqual(await after(workspace), rows);
      assert.deepEqual(
        await read(workspace, "select no, id from tenants order by no"),
        recorded.map(({ tenantId }, index) => [String(index + 1), tenantId]),
      );
      assert.deepEqual(await read(workspace, "select id from oauth_records where model = 'Session'"), [
        ["kept_id"],
      ]);
      if (backup !== undefined)
        assert.deepEqual(await before({ ...workspace, databaseUrl: `file:${backup}` }), rows);
      assert.equal(backup !== undefined, database === "sqlite");

      assert.match((await migrate(workspace)).stdout, /^The database is up to date/);
      assert.match(
        (await migrate(workspace, "--layout", "--yes", ...owners)).stdout,
        /^The database has the current layout/,
      );
      await assertAnswers(workspace);
      for (const { email, password } of recorded) {
        const [[hash]] = (await read(
          workspace,
          `select p.hash from passwords p join users u on u.id = p.user_id where u.email = '${email}'`,
        )) as [[string]];
        assert.ok(await verifyPassword(password, hash));
      }
    }));

  test("goes on with the numbers of tenants and events, and keeps its references", () =>
    using(async (workspace) => {
      const [[newest]] = (await read(workspace, "select max(sequence) from events")) as [[string]];
      assert.equal((await migrate(workspace, "--layout", "--yes", ...owners)).code, 0);
      const created = await portico(workspace, ["tenant", "create", "--name", "Third"], { cwd: folder });
      assert.equal(created.code, 0, created.stderr);
      assert.deepEqual(await read(workspace, "select no from tenants where name = 'Third'"), [["3"]]);
      const server = await Portico.start(workspace, { cwd: folder });
      try {
        const { key } = recorded[0]!;
        const { status, body } = await server.request("/notes", {
          method: "POST",
          body: { title: "New" },
          key,
        });
        assert.equal(status, 201);
        const sequences = await read(workspace, `select sequence from events where row_id = '${body.id}'`);
        assert.ok(Number(sequences[0]![0]) > Number(newest));
        const [remark] = await read(workspace, "select note_id from remarks order by id limit 1");
        const deleted = await server.request(`/notes/${remark![0]}`, { method: "DELETE", key });
        assert.equal(deleted.status, 204);
        assert.deepEqual(await read(workspace, `select id from remarks where note_id = '${remark![0]}'`), []);
      } finally {
        await server.stop();
      }
    }));

  const live = { PORTICO_MODE: "live", PORTICO_SECRET: "a secret of the tests that is long enough" };
  const addLostDraft = async ({ databaseUrl }: Workspace): Promise<void> => {
    const writer = openReader(databaseUrl);
    await writer.write(
      `insert into drafts (tenant_id, id, title, created_at, updated_at) values ('nobody', 'draft_1', 'Lost', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
    );
    await writer.close();
  };

  test("in live mode is refused before rows are copied unless all tenants get an owner", () =>
    using(async (workspace) => {
      // The copy would be refused because of it.
      await addLostDraft(workspace);
      const rows = await before(workspace);
      const refusal = async (...options: string[]): Promise<string> => {
        const command = ["migrate", "--layout", "--yes", ...options];
        const { code, stderr } = await portico(workspace, command, { cwd: folder, env: live });
        assert.equal(code, 1);
        return stderr;
      };
      assert.match(await refusal(), /^portico: users get roles: name the owner of each tenant/);
      const [{ email, tenantId }, other] = recorded as [(typeof recorded)[0], (typeof recorded)[0]];
      const missing = await refusal("--owner", email);
      assert.match(missing, new RegExp(`missing for [^,]*\\(${other.tenantId}\\)\n$`));
      assert.ok(!missing.includes(tenantId));
      const unknown = await refusal("--owner", "nobody@example.com", "--owner", "first");
      assert.match(unknown, /no tenant has this user/);
      const named = recorded.flatMap(({ email }) => ["--owner", email]);
      for (const accepted of [owners, named])
        assert.match(await refusal(...accepted), /^portico: 1 rows of drafts belong to no tenant/);
      assert.deepEqual(await before(workspace), rows);
    }));

  test("in a sandbox makes the first user of each tenant its owner", () =>
    using(async (workspace) => {
      const { code, stderr } = await migrate(workspace, "--layout", "--yes");
      assert.equal(code, 0, stderr);
      const firstUser = `select u.id from users u where u.tenant_no = t.no order by u.created_at, u.id limit 1`;
      assert.deepEqual(
        await read(
          workspace,
          "select t.id, u.id from users u join tenants t on t.no = u.tenant_no where u.role = 'owner' order by t.no",
        ),
        await read(workspace, `select t.id, (${firstUser}) from tenants t order by t.no`),
      );
    }));

  test("is as it was if a row belongs to no tenant", () =>
    using(async (workspace) => {
      await addLostDraft(workspace);
      const rows = await before(workspace);
      const refused = await migrate(workspace, "--layout", "--yes", ...owners);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /^portico: 1 rows of drafts belong to no tenant; delete them first: /);
      assert.deepEqual(await before(workspace), rows);
      const deletion = openReader(workspace.databaseUrl);
      await deletion.write("delete from drafts where tenant_id not in (select id from tenants)");
      await deletion.close();
      assert.equal((await migrate(workspace, "--layout", "--yes", ...owners)).code, 0);
      assert.deepEqual(await after(workspace), rows);
    }));

  test("is as it was while another process uses it", () =>
    using(async (workspace) => {
      const rows = await before(workspace);
      const refused = async (): Promise<void> => {
        const { code, stderr } = await migrate(workspace, "--layout", "--yes", ...owners);
        assert.equal(code, 1);
        assert.match(stderr, /in use .*stop the servers/);
      };
      if (database === "sqlite") {
        const other = new DatabaseSync(fileURLToPath(workspace.databaseUrl));
        // As every server does. Its connections hold a lock on the file.
        other.exec("pragma journal_mode = wal; select count(*) from tenants");
        await refused();
        other.close();
      } else {
        const server = postgres(workspace.databaseUrl, {
          max: 1,
          onnotice: () => {},
          connection: { application_name: "portico" },
        });
        await server`select 1`;
        await refused();
        await server.end();
        const other = postgres(workspace.databaseUrl, { max: 1, onnotice: () => {} });
        await other.begin(async (sql) => {
          await sql`lock table tenants in exclusive mode`;
          await refused();
        });
        await other.end();
      }
      assert.deepEqual(await before(workspace), rows);
      assert.equal((await migrate(workspace, "--layout", "--yes", ...owners)).code, 0);
    }));

  test("says what is changed if a later step fails", async () => {
    // On SQLite, all steps are done before the new file takes the place of the old one.
    const emptyTables = ["client_secrets", "email_changes", "passkeys", "purged_events", "verified_emails"];
    const declared = [...tablesWithTenant, ...emptyTables].map((name) => ({ name }));
    const failing = database === "sqlite" ? 1 : 2;
    for (const at of new Set([1, failing]))
      await using(async (workspace) => {
        let calls = 0;
        const complete = async (): Promise<void> => {
          calls += 1;
          if (calls === at) throw new Error("a fault");
        };
        const expected =
          at === 1
            ? /^a fault; the database is as it was$/
            : /^the layout is changed, but not all that the declarations need: a fault; run portico migrate$/;
        await assert.rejects(
          changeLayout(workspace.databaseUrl, declared, complete, () => {}),
          { name: "OperatorError", message: expected },
        );
        const again = await migrate(workspace, ...(at === 1 ? ["--layout", "--yes"] : []), ...owners);
        assert.equal(again.code, 0, again.stderr);
        assert.match((await migrate(workspace)).stdout, /^The database is up to date/);
      });
  });

  test("is changed after a change that was interrupted", () =>
    using(async (workspace) => {
      const rows = await before(workspace);
      if (database === "sqlite") {
        const file = fileURLToPath(workspace.databaseUrl);
        writeFileSync(`${file}.layout-3`, "the beginning of a copy");
        writeFileSync(`${file}.layout-3-wal`, "its log");
      } else {
        const sql = postgres(workspace.databaseUrl, { max: 1, onnotice: () => {} });
        await sql
          .unsafe(`create schema public_layout_2; create table public_layout_2.tenants (no integer);
          create table public_layout_2.notes (like notes)`)
          .simple();
        await sql.end();
      }
      assert.equal((await migrate(workspace, "--layout", "--yes", ...owners)).code, 0);
      assert.deepEqual(await after(workspace), rows);
      if (database === "sqlite")
        assert.equal(existsSync(`${fileURLToPath(workspace.databaseUrl)}.layout-3`), false);
    }));
});
