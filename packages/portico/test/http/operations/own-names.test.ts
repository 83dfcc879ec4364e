// Names: no resource can use a table or a path of the server, and the remains of a rename are reported.

import assert from "node:assert/strict";
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { OperatorError } from "../../../src/errors.ts";
import { app, resource, text } from "../../../src/index.ts";
import { buildModel } from "../../../src/model/build-model.ts";
import { composeApp, ownTablesOf } from "../../../src/runtime/compose.ts";
import { readSettings } from "../../../src/runtime/settings/settings.ts";
import { tablesOf } from "../../../src/store/schema/model-tables.ts";
import { openReader } from "../../support/database-reader.ts";
import {
  makeWorkspace,
  onEachDatabase,
  Portico,
  portico,
  porticoProcess,
  projectFolder,
  type Workspace,
} from "../../support/server.ts";

interface Names {
  readonly resource?: string;
  readonly plural?: string;
  readonly field?: string;
  readonly was?: string;
}

/** Writes a project with one resource of these names. @returns its folder */
function makeProject(
  { folder }: Workspace,
  { resource = "note", plural, field = "title", was }: Names,
): string {
  const project = mkdtempSync(join(folder, "project-"));
  symlinkSync(join(projectFolder, "node_modules"), join(project, "node_modules"));
  const declaration = `{ plural: ${JSON.stringify(plural)}, fields: { ${field}: text({ max: 100, default: ""${was ? `, was: "${was}"` : ""} }) } }`;
  writeFileSync(
    join(project, "portico.config.ts"),
    `import { app, resource, text } from "portico";
     export default app({ name: "Named", resources: [resource("${resource}", ${declaration})] });`,
  );
  return project;
}

const ownTables = ownTablesOf(composeApp(app({ name: "Own", resources: [] }), readSettings({})).modules);

for (const { name: table } of ownTables) {
  test(`no resource can use the table ${table}`, () => {
    const plural = table.replace(/_./g, ([, letter]) => letter!.toUpperCase());
    const conflicting = resource("taken", { plural, fields: { title: text() } });
    assert.throws(
      () => tablesOf(buildModel(app({ name: "Taken", resources: [conflicting] }), []), ownTables),
      new OperatorError(
        `resource taken: the table ${table} belongs to the server itself; set plural, or rename it`,
      ),
    );
  });
}

test("no resource can use the table of another one, nor that of its search", () => {
  const fields = { title: text({ max: 100 }) };
  const posts = resource("post", { fields, search: ["title"] });
  for (const [other, table] of [
    [resource("entry", { fields, plural: "posts", version: "v2" }), "posts"],
    [resource("hit", { fields, plural: "postsSearch" }), "posts_search"],
    [resource("hit", { fields, plural: "postsSearchData" }), "posts_search_data"],
    [resource("hit", { fields, was: { name: "hit", plural: "postsSearchIdx" } }), "posts_search_idx"],
  ] as const)
    assert.throws(
      () => tablesOf(buildModel(app({ name: "Taken", resources: [posts, other] }), []), []),
      new RegExp(`the table ${table} belongs to the resource post`),
    );
});

test("no resource can use the names of the database's own tables", () => {
  for (const [was, prefix] of [
    [{ name: "statistic", plural: "pgClass" }, "pg_"],
    [{ name: "statistic", plural: "sqliteStat1" }, "sqlite_"],
  ] as const) {
    const statistics = resource("statistic", { fields: { title: text() }, was });
    assert.throws(
      () => tablesOf(buildModel(app({ name: "Taken", resources: [statistics] }), []), []),
      new RegExp(`resource statistic: names of tables that begin with ${prefix} are reserved`),
    );
  }
});

onEachDatabase("names", (database) => {
  let workspace: Workspace;
  before(async () => {
    workspace = await makeWorkspace(database);
  });
  after(() => workspace?.remove());

  const refusals: readonly (readonly [Names, RegExp, authUrl?: string])[] = [
    [{ resource: "passkey" }, /resource passkey: the table passkeys belongs to the server itself/],
    [{ resource: "user" }, /resource user: two resources have this name/],
    [{ resource: "grant" }, /resource grant: grants is a path of the server's own; set plural/],
    [{ resource: "node" }, /GraphQL schema would have two fields named node/],
    [{ resource: "search" }, /GraphQL schema would have two fields named search/],
    [{ resource: "query" }, /the declarations do not make a valid GraphQL schema: .*Query/],
    [{ resource: "subscription" }, /the declarations do not make a valid GraphQL schema: .*Subscription/],
    [{ plural: "healthz" }, /healthz is a path/],
    [{ plural: "graphql" }, /graphql is a path/],
    [{ plural: "oauth" }, /oauth is a path/],
    [{ plural: "metrics" }, /metrics is a path/],
    [{ plural: "v1" }, /v1 is a path/],
    [{ plural: "accounts" }, /accounts is a path/, "http://127.0.0.1:3000/accounts"],
    [{ plural: "token" }, /token is a path/, "http://127.0.0.1:3000"],
  ];
  for (const [index, [names, line, authUrl]] of refusals.entries()) {
    const described = [...Object.values(names), ...(authUrl === undefined ? [] : [authUrl])].join(" at ");
    test(`${described} is refused with one line, before any migration`, async () => {
      const cwd = makeProject(workspace, names);
      const env = { PORT: "0", ...(authUrl !== undefined && { AUTH_URL: authUrl }) };
      // The first one as processes too.
      for (const run of index === 0 ? [portico, porticoProcess] : [portico])
        for (const command of ["migrate", "serve"]) {
          const { code, stderr } = await run(workspace, [command], { env, cwd });
          assert.equal(code, 1, command);
          assert.match(stderr, /^portico: [^\n]+\n$/);
          assert.match(stderr, line);
        }
    });
  }

  test("migrate names a table with rows whose resource is no longer declared", async () => {
    const server = await Portico.start(workspace, { cwd: makeProject(workspace, {}) });
    await server.request("/notes", { body: { title: "kept" } });
    await server.stop();
    const renamed = { cwd: makeProject(workspace, { resource: "memo" }) };
    const { stdout, code } = await portico(workspace, ["migrate"], renamed);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /table notes has rows, but no resource .* --drop notes deletes it\. If the resource was renamed, declare was/,
    );
    const again = JSON.parse((await portico(workspace, ["migrate", "--json"], renamed)).stdout);
    assert.deepEqual(again, {
      ...{ statements: [], indexes: [], isDryRun: false, losses: [] },
      ...{ undeclared: ["notes"], undeclaredColumns: [] },
      ...{ owners: [], reducedKeys: [] },
    });
    // The table of memos is empty.
    const back = JSON.parse(
      (await portico(workspace, ["migrate", "--json"], { cwd: makeProject(workspace, {}) })).stdout,
    );
    assert.deepEqual(back.undeclared, []);
  });

  test("migrate explains how to rename a field, and the values are kept", async () => {
    const renamed = { cwd: makeProject(workspace, { field: "heading" }) };
    const { stderr, code } = await portico(workspace, ["migrate"], renamed);
    assert.equal(code, 1);
    const [, was] = /declare was: "(\w+)"/.exec(stderr)!;
    const project = { cwd: makeProject(workspace, { field: "heading", was: was! }) };
    assert.equal((await portico(workspace, ["migrate"], project)).code, 0);
    const reader = openReader(workspace.databaseUrl);
    assert.deepEqual(await reader.rows("select title from notes"), [["kept"]]);
    await reader.close();
  });
});
