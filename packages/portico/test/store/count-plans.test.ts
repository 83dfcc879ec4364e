// Query plans of counts: each reads a range of an index that begins with the reference and what the count compares.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import postgres from "postgres";
import { app } from "../../src/declare/app.ts";
import { boolean, choice, count, text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Read } from "../../src/query/read.ts";
import { select, selectedCount } from "../../src/query/selection.ts";
import { compileList } from "../../src/store/compile/list.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";

const projects = resource("project", {
  fields: {
    issues: count(() => issues),
    open: count(() => issues, { where: { status: ["open", "new"], isPinned: true, title: "A long one" } }),
    named: count(() => issues, { where: { title: { startsWith: "A" } } }),
  },
});
const issues = resource("issue", {
  parent: projects,
  fields: {
    title: text({ max: 1_000 }),
    status: choice(["new", "open", "closed"]),
    isPinned: boolean(),
    isDone: boolean(),
  },
});
const model = buildModel(app({ name: "Plans", resources: [projects, issues] }), []);
const [project, issue] = [model.resource.get("project")!, model.resource.get("issue")!];
const [byReference, byCompared] = [
  "portico_issues_project_id_created_at_id",
  "portico_issues_project_id_status_is_pinned_created_at_id",
];
const expected = { issues: byReference, open: byCompared, named: byReference };

test("an index is added for what a count compares by equality, unless it is a long text", () => {
  const indexes = issue.indexes.map(({ columns }) => columns.map(({ attribute }) => attribute.name).join());
  assert.deepEqual(indexes.sort(), ["projectId,createdAt,id", "projectId,status,isPinned,createdAt,id"]);
});

onEachDatabase("query plans of counts", (database) => {
  let workspace: Workspace;
  let store: Store;
  before(async () => {
    workspace = await makeWorkspace(database);
    store = await openStore(workspace.databaseUrl);
    await migrate(store, tablesOf(model, []));
  });
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  for (const [name, index] of Object.entries(expected))
    test(`a page with the count ${name} reads ${index}, and is a slow read`, async () => {
      const read: Read = {
        resource: project,
        selection: select([], [selectedCount(project.counts.get(name)!)]),
        ...{
          conditions: [],
          words: [],
          sort: [{ attribute: project.sorts.get("createdAt")!, isDescending: true }],
        },
        page: { style: "cursor", limit: 20, position: undefined, isBackward: false },
      };
      const statement = compileList(store.dialect, read);
      assert.equal(statement.mayScan, true);
      const input = { tenantId: "tenant 1", tenantNo: 1, read };
      if (database === "sqlite") {
        const explained = { ...statement, sql: `explain query plan ${statement.sql}`, mayScan: false };
        const lines = (await store.database.query(explained, input)).map((row) => String(row[3]));
        const counted = lines.filter((line) => line.includes(" r_0 "));
        assert.equal(counted.length, 1);
        assert.match(
          counted[0]!,
          new RegExp(`^SEARCH r_0 USING (COVERING )?INDEX ${index} \\(tenant_no=\\? AND project_id=\\?`),
        );
        return;
      }
      const sql = postgres(workspace.databaseUrl, { max: 1, onnotice: () => {} });
      try {
        await sql.unsafe("set session_replication_role = replica");
        const from = "from generate_series(1, 12000) n on conflict do nothing";
        await sql.unsafe(`insert into projects select 1, 'project_' || n % 600, now(), now() ${from}`);
        await sql.unsafe(
          `insert into issues select 1, 'issue_' || n, 'project_' || n % 600, 'title ' || n, 'open', n % 2 = 0, false, now(), now() ${from}`,
        );
        await sql.unsafe("analyze");
        const [row] = await sql.unsafe(
          `explain (format json) ${statement.sql}`,
          statement.bind(input) as never[],
        );
        const plan = JSON.stringify(row!["QUERY PLAN"]);
        // Both indexes serve a count that compares nothing else.
        const served = index === byCompared ? index : "portico_issues_project_id_\\w+";
        assert.match(plan, new RegExp(`"Index Name":"${served}"`));
        assert.doesNotMatch(plan, /"Node Type":"Seq Scan"/);
      } finally {
        await sql.end();
      }
    });
});
