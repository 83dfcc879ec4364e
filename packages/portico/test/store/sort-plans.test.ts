// The query plans of pages that are sorted by several fields. With a declared index, each range of the page is read along
// that index, in order; without one, the page is a slow read.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import postgres from "postgres";
import { buildModel } from "../../src/model/build-model.ts";
import type { Value } from "../../src/query/condition.ts";
import type { Position, Read, Sort } from "../../src/query/read.ts";
import { wholeRow } from "../../src/query/selection.ts";
import { combinedSort, singleSort } from "../../src/query/sort.ts";
import { compileList } from "../../src/store/compile/list.ts";
import { missingIndex } from "../../src/store/explain/missing-index.ts";
import { openStore } from "../../src/store/open.ts";
import { identifier } from "../../src/store/schema/index-names.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import tasks from "../fixtures/tasks/portico.config.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";
import { anyValue } from "./every-read.ts";

const model = buildModel(tasks, []);
const task = model.resource.get("task")!;
const tenantId = "tenant 1";
const tenantNo = 1;

function sortOf(text: string): Sort {
  const [first, ...others] = text.split(",").map((each) => singleSort(task, each)![0]);
  return combinedSort([first!, ...others]);
}

function readOf(
  text: string,
  filters: Readonly<Record<string, readonly Value[]>> = {},
  position?: Position,
  isBackward = false,
): Read {
  return {
    resource: task,
    selection: wholeRow(task),
    conditions: Object.entries(filters).map(([name, values]) => {
      return { attribute: task.attribute.get(name)!, operator: "in", values };
    }),
    words: [],
    sort: sortOf(text),
    page: { style: "cursor", limit: 20, position, isBackward },
  };
}

/** No position, and positions with each combination of nulls. */
function positionsOf(sort: Sort): (Position | undefined)[] {
  const combinations = sort.reduce<Value[][]>(
    (known, { attribute }) =>
      known.flatMap((values) => [
        [...values, anyValue(attribute)],
        ...(attribute.isNullable ? [[...values, null]] : []),
      ]),
    [[]],
  );
  return [undefined, ...combinations.map((values) => ({ values, id: "task_00006000" }))];
}

const open = { status: ["open"] };
const either = { status: ["open", "done"] };

/** Orders with the index that serves them: both directions of it, with the filters that it begins with. */
const indexed: readonly (readonly [
  sort: string,
  filters: Readonly<Record<string, string[]>>,
  index: string,
])[] = [
  ["-priority,dueAt", {}, "priority_desc_null_due_at_null_id"],
  ["priority,-dueAt", {}, "priority_desc_null_due_at_null_id"],
  ["-priority,points", open, "status_priority_desc_null_points_id"],
  ["priority,-points", open, "status_priority_desc_null_points_id"],
  ["-priority,points", either, "status_priority_desc_null_points_id"],
  ["status,-priority,points", {}, "status_priority_desc_null_points_id"],
  ["title,-dueAt,points", {}, "title_due_at_desc_null_points_id"],
  ["-title,dueAt,-points", {}, "title_due_at_desc_null_points_id"],
  ["-priority,dueAt,-points", open, "status_priority_desc_null_due_at_null_points_desc_id_desc"],
  // The index of the filter with the default sort.
  ["status,createdAt", {}, "status_created_at_id"],
  ["-status,-createdAt", {}, "status_created_at_id"],
];

const everyRead = indexed.flatMap(([text, filters, index]) =>
  positionsOf(sortOf(text)).flatMap((position) =>
    [false, true].map((isBackward) => ({
      name: `${text} ${JSON.stringify(filters)} ${isBackward ? "before" : "after"} ${JSON.stringify(position?.values)}`,
      index: identifier(`portico_tasks_${index}`),
      read: readOf(text, filters, position, isBackward),
    })),
  ),
);

test("without an index in the order of the page, it is a slow read, and the index to declare is known", () => {
  for (const [text, filters, declare] of [
    ["points,title", {}, ["points", "title"]],
    ["priority,dueAt", {}, ["priority", "dueAt"]],
    ["-status,createdAt", {}, ["-status", "createdAt"]],
    ["-priority,title,dueAt", open, ["status", "-priority", "title", "dueAt"]],
    // A field that has one value on the page, and an id before the last field, have no place in an index.
    ["status,-priority", open, undefined],
    ["points,-id", {}, undefined],
    ["-priority,dueAt,points", { status: ["open"], title: ["a"] }, undefined],
  ] as const) {
    const read = readOf(text, filters);
    assert.equal(missingIndex(read)?.join(), declare?.join(), text);
  }
});

onEachDatabase("query plans of several sorts", (database) => {
  let workspace: Workspace;
  let store: Store;
  before(async () => {
    workspace = await makeWorkspace(database);
    store = await openStore(workspace.databaseUrl);
    await migrate(store, tablesOf(model, [tenantsTable]));
  });
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  test("only pages without an index in their order are slow reads", () => {
    for (const { name, read } of everyRead)
      assert.equal(compileList(store.dialect, read).mayScan, false, name);
    const position = { values: [5, "value 5"], id: "task_1" };
    for (const read of [
      readOf("points,title"),
      readOf("points,title", open, position),
      readOf("priority,dueAt"),
      readOf("-priority,dueAt", open),
      // Each of the values would be several ranges of the index.
      readOf("-priority,points", { status: Array.from({ length: 11 }, (_, index) => `${index}`) }),
    ])
      assert.equal(compileList(store.dialect, read).mayScan, true);
  });

  test("a page without an index is one range, so that its rows are read once", () => {
    const { sql } = compileList(
      store.dialect,
      readOf("-points,priority", {}, { values: [5, null], id: "task_1" }),
    );
    assert.doesNotMatch(sql, /union all/);
    assert.match(sql, / or /);
  });

  if (database === "sqlite") {
    test("each range of a page is read along the declared index, in its order", async () => {
      for (const { name, index, read } of everyRead) {
        const statement = compileList(store.dialect, read);
        const explained = { sql: `explain query plan ${statement.sql}`, bind: statement.bind };
        const rows = await store.database.query(explained, { tenantId, tenantNo, read });
        const lines = rows.map((row) => String(row[3]));
        const description = `${name}\n${lines.join("\n")}`;
        const searches = lines.filter((line) => line.startsWith("SEARCH r "));
        assert.ok(searches.length > 0, description);
        for (const line of searches) {
          assert.ok(line.includes(`USING INDEX ${index} (tenant_no=?`), description);
          for (const { attribute } of read.conditions as readonly { attribute: { column: string } }[])
            assert.ok(line.includes(`${attribute.column}=?`), description);
        }
        // The rows of a range are not sorted, only those of a page: to merge ranges, or to reverse a backward page.
        for (const search of searches)
          assert.doesNotMatch(
            lines[lines.indexOf(search) + 1] ?? "",
            /^USE TEMP B-TREE FOR (?!group_concat)/,
            description,
          );
        assert.ok(!lines.some((line) => /^SCAN .* USING/.test(line)), description);
      }
    });
    return;
  }

  test("each range of a page is read along the declared index, in its order", async () => {
    const sql = postgres(workspace.databaseUrl, { max: 1, onnotice: () => {} });
    try {
      await sql.unsafe("set session_replication_role = replica");
      // Each range has more rows than a page: a planner rightly prefers to sort a handful of rows.
      await sql.unsafe(`insert into tasks (tenant_no, id, title, status, priority, due_at, points, search_words, created_at, updated_at)
        select n % 2, 'task_' || lpad(n::text, 8, '0'), 'value ' || 4 + n / 2 % 3, (array['open', 'done'])[1 + n / 6 % 2],
          (array[null, 4, 5, 6])[1 + n / 12 % 4],
          case when n / 48 % 4 < 3 then timestamptz '2026-01-01' + (n / 48 % 4 - 1) * interval '1 day' end,
          4 + n / 192 % 3, '', timestamptz '2026-01-01' + n * interval '1 second', now() from generate_series(1, 30000) n`);
      await sql.unsafe("analyze tasks");
      for (const { name, index, read } of everyRead) {
        const statement = compileList(store.dialect, read);
        const [row] = await sql.unsafe(
          `explain (format json) ${statement.sql}`,
          statement.bind({ tenantId, tenantNo, read }) as postgres.ParameterOrJSON<never>[],
        );
        const nodes = nodesOf(row!["QUERY PLAN"][0].Plan);
        const description = `${name}\n${JSON.stringify(row!["QUERY PLAN"][0].Plan)}`;
        // A range is what the innermost limit bounds.
        const ranges = nodes.filter(
          (node) =>
            node["Node Type"] === "Limit" &&
            !nodesOf(node)
              .slice(1)
              .some((inner) => inner["Node Type"] === "Limit"),
        );
        assert.ok(ranges.length > 0, description);
        const inside = ranges.flatMap(nodesOf);
        assert.ok(!inside.some((node) => /Sort|Seq Scan/.test(node["Node Type"])), description);
        assert.deepEqual(
          [...new Set(inside.flatMap((node) => node["Index Name"] ?? []))],
          [index],
          description,
        );
      }
    } finally {
      await sql.end();
    }
  });
});

interface PlanNode {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
