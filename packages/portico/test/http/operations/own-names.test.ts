// Names: no resource takes a table or a path of the server's own, and what a renaming leaves behind is told.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { OperatorError } from "../../../src/errors.ts";
import { app, resource, text } from "../../../src/index.ts";
import { buildModel } from "../../../src/model/build-model.ts";
import { ownTables } from "../../../src/runtime/compose.ts";
import { tablesOf } from "../../../src/store/schema/ddl.ts";
import { openReader } from "../../support/database-reader.ts";
import {
  makeWorkspace,
  onEachDatabase,
  Portico,
  porticoProcess,
  projectFolder,
  type Workspace,
} from "../../support/server.ts";

const cwd = `${projectFolder}/packages/portico/test/fixtures/named`;

for (const { name: table } of ownTables) {
  test(`no resource takes the table ${table}`, () => {
    const plural = table.replace(/_./g, ([, letter]) => letter!.toUpperCase());
    const taken = resource("taken", { plural, fields: { title: text() } });
    assert.throws(
      () => tablesOf(buildModel(app({ name: "Taken", resources: [taken] }), []), ownTables),
      new OperatorError(
        `resource taken: the table ${table} belongs to the server itself; set plural, or rename it`,
      ),
    );
  });
}

test("no resource takes the table of another one, nor that of its search", () => {
  const fields = { title: text({ max: 100 }) };
  const posts = resource("post", { fields, search: ["title"] });
  for (const [other, table] of [
    [resource("entry", { fields, plural: "posts", version: "v2" }), "posts"],
    [resource("hit", { fields, plural: "postsSearch" }), "posts_search"],
  ] as const)
    assert.throws(
      () => tablesOf(buildModel(app({ name: "Taken", resources: [posts, other] }), []), []),
      new RegExp(`the table ${table} belongs to the resource post`),
    );
});

onEachDatabase("names", (database) => {
  let workspace: Workspace;
  before(async () => {
    workspace = await makeWorkspace(database);
  });
  after(() => workspace?.remove());

  const refusals: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ RESOURCE: "passkey" }, /resource passkey: the table passkeys belongs to the server itself/],
    [{ RESOURCE: "user" }, /resource user: two resources have this name/],
    [{ RESOURCE: "grant" }, /resource grant: grants is a path of the server's own; set plural/],
    [{ RESOURCE: "node" }, /GraphQL schema would have two fields named node/],
    [{ RESOURCE: "search" }, /GraphQL schema would have two fields named search/],
    [{ RESOURCE: "query" }, /the declarations make no GraphQL schema: .*Query/],
    [{ RESOURCE: "subscription" }, /the declarations make no GraphQL schema: .*Subscription/],
    [{ PLURAL: "healthz" }, /healthz is a path/],
    [{ PLURAL: "graphql" }, /graphql is a path/],
    [{ PLURAL: "oauth" }, /oauth is a path/],
    [{ PLURAL: "metrics" }, /metrics is a path/],
    [{ PLURAL: "v1" }, /v1 is a path/],
    [{ PLURAL: "accounts", AUTH_URL: "http://127.0.0.1:3000/accounts" }, /accounts is a path/],
    [{ PLURAL: "token", AUTH_URL: "http://127.0.0.1:3000" }, /token is a path/],
  ];
  for (const [env, line] of refusals) {
    test(`${Object.values(env).join(" at ")} is refused with one line, before anything is migrated`, async () => {
      for (const command of ["migrate", "serve"]) {
        const { code, stderr } = await porticoProcess(workspace, [command], {
          env: { PORT: "0", ...env },
          cwd,
        });
        assert.equal(code, 1, command);
        assert.match(stderr, /^portico: [^\n]+\n$/);
        assert.match(stderr, line);
      }
    });
  }

  test("a table with rows whose resource is declared no longer is named by migrate", async () => {
    const served = await Portico.start(workspace, { cwd });
    await served.request("/notes", { body: { title: "kept" } });
    await served.stop();
    const renamed = { cwd, env: { RESOURCE: "memo" } };
    const { stdout, code } = await porticoProcess(workspace, ["migrate"], renamed);
    assert.equal(code, 0);
    assert.match(stdout, /table notes has rows, but no resource .* set its plural to the old name/);
    const again = JSON.parse((await porticoProcess(workspace, ["migrate", "--json"], renamed)).stdout);
    assert.deepEqual(again, { statements: [], isDryRun: false, undeclared: ["notes"] });
    // The table of memos is empty.
    const back = JSON.parse((await porticoProcess(workspace, ["migrate", "--json"], { cwd })).stdout);
    assert.deepEqual(back.undeclared, []);
  });

  test("a field that is renamed is told how, and the values are there afterwards", async () => {
    const renamed = { cwd, env: { FIELD: "heading" } };
    const { stderr, code } = await porticoProcess(workspace, ["migrate"], renamed);
    assert.equal(code, 1);
    const [, statement] = /run by hand: (alter table notes rename column title to heading);/.exec(stderr)!;
    assert.doesNotMatch(stderr, /drop column/);
    const reader = openReader(workspace.databaseUrl);
    await reader.write(statement!);
    assert.deepEqual(await reader.rows("select heading from notes"), [["kept"]]);
    await reader.close();
    assert.equal((await porticoProcess(workspace, ["migrate"], renamed)).code, 0);
  });
});
