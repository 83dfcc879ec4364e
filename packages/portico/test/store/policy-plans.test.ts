// Query plans of statements with policies: which statements may scan many rows, and run as slow reads, and how the
// databases execute the others.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import postgres from "postgres";
import { users } from "../../src/auth/users/resource.ts";
import { app } from "../../src/declare/app.ts";
import type { Caller } from "../../src/declare/caller.ts";
import { belongsTo, choice, text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import type { PolicyContext } from "../../src/declare/where.ts";
import { withPolicies } from "../../src/engine/authorize.ts";
import { eventsTable } from "../../src/events/event.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { ResourceModel } from "../../src/model/model.ts";
import type { Comparison } from "../../src/query/condition.ts";
import type { Read, ReadOne, Selection } from "../../src/query/read.ts";
import { select, wholeRow } from "../../src/query/selection.ts";
import { compileGet } from "../../src/store/compile/get.ts";
import type { ReadInput } from "../../src/store/compile/input.ts";
import { compileList } from "../../src/store/compile/list.ts";
import type { Statement } from "../../src/store/database.ts";
import { openStore } from "../../src/store/open.ts";
import { postgresDialect } from "../../src/store/postgres/dialect.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import { sqliteDialect } from "../../src/store/sqlite/dialect.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";

const owned = ({ caller }: PolicyContext) => ({ ownerId: caller.userId });
const fields = { name: text({ max: 50 }), owner: belongsTo(() => users) };

const posts = resource("post", { fields, nestedUnder: ["owner"] });
const projects = resource("project", { fields, sort: ["name"], policy: owned });
const notes = resource("note", { parent: projects, fields });
const remarks = resource("remark", { parent: notes, fields, nestedUnder: ["owner", "tenant"] });
/** Its policy names attributes by which callers can filter under its parent. */
const marks = resource("mark", { parent: notes, fields, filter: ["ownerId"], policy: owned });
/** The same, under rows without a policy. */
const plains = resource("plain", {
  parent: posts,
  fields: { name: text({ max: 50 }), kind: choice(["a", "b"]) },
  filter: ["kind"],
  nestedUnder: ["tenant"],
  policy: () => ({ kind: "a" }),
});
/** Its policy names an attribute without an index. */
const drafts = resource("draft", {
  fields,
  sort: ["name"],
  policy: ({ caller }) => ({ name: caller.userId }),
});

const model = buildModel(
  app({ name: "Plans", resources: [projects, notes, remarks, marks, drafts, posts, plains] }),
  [users],
);
const tenantId = "tenant 1";
const tenantNo = 1;
const caller: Caller = {
  tenantId,
  kind: "key",
  userId: "user 1",
  role: "owner",
  credentialId: "key",
  scopes: new Set(model.scopes),
};
const of = (name: string): ResourceModel => model.resource.get(name)!;

function listOf(
  name: string,
  conditions: readonly Comparison[] = [],
  selection?: Selection,
  sort = "createdAt",
): Read {
  const resource = of(name);
  return withPolicies(caller, {
    resource,
    selection: selection ?? wholeRow(resource),
    conditions,
    words: [],
    sort: [{ attribute: resource.sorts.get(sort)!, isDescending: true }],
    page: { style: "cursor", limit: 20, position: undefined, isBackward: false },
  });
}

/** The condition for the rows that refer to one row. */
function below(name: string, attribute: string): readonly Comparison[] {
  return [{ attribute: of(name).attribute.get(attribute)!, operator: "in", values: ["row_00011998"] }];
}

/** The selection of a row with the first rows of another resource that refer to it. */
function withList(name: string, inside: string, attribute: string): Selection {
  const listed = of(inside);
  return select(
    [of(name).attribute.get("id")!],
    [
      {
        kind: "list",
        name: "inside",
        resource: listed,
        reference: listed.attribute.get(attribute)!,
        selection: wholeRow(listed),
        conditions: [],
        sort: [{ attribute: listed.sorts.get("createdAt")!, isDescending: true }],
        limit: 10,
      },
    ],
  );
}

function one(name: string, selection = wholeRow(of(name))): ReadOne {
  return withPolicies(caller, { resource: of(name), selection, id: "row_00011998", conditions: [] });
}

const facts: readonly (readonly [fact: string, mayScan: boolean, read: () => Read | ReadOne])[] = [
  ["a list without a policy", false, () => listOf("post")],
  ["a list under a reference, without a policy", false, () => listOf("post", below("post", "ownerId"))],
  ["a list whose policy names a reference", false, () => listOf("project")],
  [
    "a list under its parent, with an inherited policy",
    false,
    () => listOf("remark", below("remark", "noteId")),
  ],
  [
    "a list under its parent, whose own policy is a filter",
    false,
    () => listOf("mark", below("mark", "noteId")),
  ],
  ["a row with an inherited policy", false, () => one("remark")],
  ["a list of all rows with an inherited policy", true, () => listOf("remark")],
  [
    "a list under another reference, with an inherited policy",
    true,
    () => listOf("remark", below("remark", "ownerId")),
  ],
  [
    "a list under either of two parents, with an inherited policy",
    true,
    () => listOf("remark", [{ ...below("remark", "noteId")[0]!, values: ["a", "b"] }]),
  ],
  ["a list whose policy names an attribute without an index", true, () => listOf("draft")],
  [
    "a list under more parents than are read one by one",
    true,
    () => listOf("plain", [{ ...below("plain", "postId")[0]!, values: Array.from({ length: 21 }, String) }]),
  ],
  [
    "a list whose policy names a reference, with another sort",
    true,
    () => listOf("project", [], undefined, "name"),
  ],
  ["a list of the rows of all parents, whose policy is a filter under each", true, () => listOf("plain")],
  ["a row with its children", false, () => one("note", withList("note", "remark", "noteId"))],
  [
    "a list of rows with their children",
    false,
    () => listOf("project", [], withList("project", "note", "projectId")),
  ],
  [
    "a row with the children that their policy allows",
    true,
    () => one("note", withList("note", "mark", "noteId")),
  ],
  [
    "a row with the rows that refer to it, which inherit a policy",
    true,
    () => one("user", withList("user", "remark", "ownerId")),
  ],
  [
    "a list of rows with the rows that refer to them, which inherit a policy",
    true,
    () => listOf("user", [], withList("user", "remark", "ownerId")),
  ],
  [
    "a row with the rows that refer to it, without a policy",
    false,
    () => one("user", withList("user", "post", "ownerId")),
  ],
];

for (const dialect of [sqliteDialect, postgresDialect]) {
  for (const [fact, mayScan, read] of facts) {
    test(`${fact} ${mayScan ? "is a slow read" : "is read at once"} (${dialect.name})`, () => {
      const query = read();
      const { mayScan: compiled } =
        "page" in query ? compileList(dialect, query) : compileGet(dialect, query, undefined);
      assert.equal(compiled, mayScan);
    });
  }
}

onEachDatabase("query plans of policies", (database) => {
  let workspace: Workspace;
  let store: Store;
  before(async () => {
    workspace = await makeWorkspace(database);
    store = await openStore(workspace.databaseUrl);
    await migrate(store, tablesOf(model, [eventsTable]));
  });
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  if (database === "sqlite") {
    test("the parent of a row is found by its id, and a list of children uses its index", async () => {
      const planOf = async <R extends Read | ReadOne>(statement: Statement<ReadInput<R>>, read: R) => {
        const explained = { ...statement, sql: `explain query plan ${statement.sql}`, mayScan: false };
        return (await store.database.query(explained, { tenantId, tenantNo, read })).map((row) =>
          String(row[3]),
        );
      };
      const list = listOf("remark", below("remark", "noteId"));
      const listed = await planOf(compileList(store.dialect, list), list);
      const searches = listed.filter((line) => line.startsWith("SEARCH"));
      assert.match(searches.find((line) => / r /.test(line)) ?? "", /\(tenant_no=\? AND note_id=\?\)/);
      assert.ok(!listed.includes("USE TEMP B-TREE FOR ORDER BY"), listed.join("\n"));
      const row = one("remark");
      const flat = listOf("remark");
      for (const plan of [
        listed,
        await planOf(compileGet(store.dialect, row, undefined), row),
        await planOf(compileList(store.dialect, flat), flat),
      ])
        for (const alias of ["r_0", "r_1"])
          assert.ok(
            plan.some(
              (line) => line.startsWith(`SEARCH ${alias} `) && line.endsWith("(tenant_no=? AND id=?)"),
            ),
            plan.join("\n"),
          );
    });
    return;
  }

  test("the parent of a list is read once, and the list uses its index", async () => {
    const sql = postgres(workspace.databaseUrl, { max: 1, onnotice: () => {} });
    try {
      await sql.unsafe("set session_replication_role = replica");
      // The parents have late ids: a merge join would read most rows to reach them.
      // Each note has enough children for an index scan to be cheaper than a sort.
      const rows = `select n % 3, 'row_' || lpad(n::text, 8, '0')`;
      const rest = `'name', 'user ' || n % 50, now() - n * interval '1 second', now() from generate_series(1, 12000) n`;
      await sql.unsafe(`insert into projects ${rows}, ${rest}`);
      await sql.unsafe(`insert into notes ${rows}, 'row_' || lpad((11991 + n % 8)::text, 8, '0'), ${rest}`);
      await sql.unsafe(`insert into remarks ${rows}, 'row_' || lpad((11991 + n % 8)::text, 8, '0'), ${rest}`);
      await sql.unsafe("analyze");
      const read = listOf("remark", below("remark", "noteId"));
      const { sql: text, bind } = compileList(store.dialect, read);
      for (const [row] of [
        await sql.unsafe(`explain (format json) ${text}`, bind({ tenantId, tenantNo, read }) as never[]),
        await sql.unsafe(`explain (generic_plan, format json) ${text}`).simple(),
      ]) {
        const plan = JSON.stringify(row!["QUERY PLAN"]);
        assert.match(plan, /"One-Time Filter"/);
        assert.match(plan, /"Index Name":"portico_remarks_note_id_created_at_id"/);
        assert.doesNotMatch(plan, /"Node Type":"(Seq Scan|Sort|Incremental Sort)"/);
      }
    } finally {
      await sql.end();
    }
  });
});
