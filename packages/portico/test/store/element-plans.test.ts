// The query plan of a page that an element of a list selects walks a range of the index of elements for each value, and
// looks up the rows of the page.

import { deepEqual, ok } from "node:assert/strict";
import { after, before, test } from "node:test";
import postgres from "postgres";
import { users } from "../../src/auth/users/resource.ts";
import { app, list, resource, text } from "../../src/index.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Condition, Value } from "../../src/query/condition.ts";
import type { Position, Read } from "../../src/query/read.ts";
import { wholeRow } from "../../src/query/selection.ts";
import { singleSort } from "../../src/query/sort.ts";
import { compileList } from "../../src/store/compile/list.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";

const fields = { tags: list(text({ max: 20 })) };
const shelves = resource("shelf", { plural: "shelves", fields: { name: text({ max: 50 }) } });
const tools = resource("tool", { fields, filter: ["tags"] });
const boxes = resource("box", { parent: shelves, fields, filter: ["tags"] });
const model = buildModel(app({ name: "Workshop", resources: [shelves, tools, boxes] }), [users]);

const position: Position = { values: ["2026-01-01T00:00:00.000Z"], id: "row_00000500" };

interface Page {
  readonly name: string;
  readonly read: Read;
  readonly count: number;
}
const pages: readonly Page[] = ["tool", "box"].flatMap((name) =>
  [["a"], ["a", "b", "c"]].flatMap((values) =>
    ["-createdAt", "createdAt"].flatMap((sort) =>
      [undefined, position].flatMap((from) =>
        [false, true].map((isBackward): Page => {
          const resource = model.resource.get(name)!;
          const equal = (field: string, wanted: readonly Value[]): Condition => ({
            ...{ attribute: resource.attribute.get(field)!, operator: "in", values: wanted },
          });
          const conditions = [
            ...(resource.parent ? [equal("shelfId", ["shelf_1"])] : []),
            equal("tags", values),
          ];
          const page = { style: "cursor", limit: 20, position: from, isBackward } as const;
          const read = { resource, selection: wholeRow(resource), conditions, words: [], page };
          return {
            name: `${name} ${values.join()} ${sort} ${from ? "from a position" : ""} ${isBackward ? "backward" : ""}`,
            read: { ...read, sort: singleSort(resource, sort)! },
            count: values.length,
          };
        }),
      ),
    ),
  ),
);

onEachDatabase("query plans of filters by lists", (database) => {
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

  test("every page walks one range of the index of elements for each value", () =>
    database === "sqlite" ? explainInSqlite(store) : explainInPostgres(workspace, store));

  test("such a page is no slow read, unless another condition is checked on its rows", () => {
    for (const { name, read } of pages) ok(!compileList(store.dialect, read).mayScan, name);
    const { read } = pages[0]!;
    const more = {
      attribute: read.resource.attribute.get("tags")!,
      operator: "notIn",
      values: ["b"],
    } as const;
    ok(compileList(store.dialect, { ...read, conditions: [...read.conditions, more] }).mayScan);
  });
});

async function explainInSqlite(store: Store): Promise<void> {
  for (const { name, read, count } of pages) {
    const { sql, bind } = compileList(store.dialect, read);
    const explained = { sql: `explain query plan ${sql}`, bind };
    const rows = await store.database.query(explained, { tenantId: "tenant 1", tenantNo: 1, read });
    const plan = rows.map((row) => String(row[3]));
    const description = `${name}\n${plan.join("\n")}`;
    const parent = read.resource.parent ? " AND shelf_id=?" : "";
    const walks = plan.filter((line) =>
      line.startsWith(`SEARCH i USING PRIMARY KEY (tenant_no=? AND value=?${parent}`),
    );
    deepEqual(walks.length, count, description);
    if (read.page.style === "cursor" && read.page.position)
      ok(
        walks.every((line) => line.includes("(created_at,id)")),
        description,
      );
    ok(
      plan.some((line) => /^SEARCH r USING INDEX .*\(tenant_no=\? AND id=\?\)$/.test(line)),
      description,
    );
    ok(!plan.some((line) => /^SCAN .* USING/.test(line)), description);
    if (count === 1) ok(!plan.includes("USE TEMP B-TREE FOR ORDER BY"), description);
  }
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

async function explainInPostgres({ databaseUrl }: Workspace, store: Store): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  const tags = `(array['["a"]', '["a","b"]', '["b","c"]', '["a","b","c"]'])[1 + n % 4]::json`;
  const time = `timestamptz '2026-01-01' + n * interval '1 second'`;
  const rows = `select n % 3, 'row_' || lpad(n::text, 8, '0'), ${tags}, ${time}, ${time}`;
  try {
    await sql.unsafe(
      "insert into shelves (tenant_no, id, name, created_at, updated_at) select n, 'shelf_' || n, 'One', now(), now() from generate_series(0, 2) n",
    );
    await sql.unsafe(
      `insert into tools (tenant_no, id, tags, created_at, updated_at) ${rows} from generate_series(1, 6000) n`,
    );
    await sql.unsafe(
      `insert into boxes (tenant_no, id, tags, created_at, updated_at, shelf_id) ${rows}, 'shelf_' || n % 3 from generate_series(1, 6000) n`,
    );
    for (const table of ["tools", "boxes", "tools_tags_elements", "boxes_tags_elements"])
      await sql.unsafe(`analyze ${table}`);
    for (const { name, read, count } of pages) {
      const statement = compileList(store.dialect, read);
      const bound = statement.bind({ tenantId: "tenant 1", tenantNo: 1, read });
      const plans = [
        await sql.unsafe(
          `explain (format json) ${statement.sql}`,
          bound as postgres.ParameterOrJSON<never>[],
        ),
        await sql.unsafe(`explain (generic_plan, format json) ${statement.sql}`).simple(),
      ];
      for (const [row] of plans) {
        const nodes = nodesOf(row!["QUERY PLAN"][0].Plan);
        const indexes = nodes.flatMap((node) => node["Index Name"] ?? []);
        const description = `${name}\n${nodes.map((node) => node["Index Name"] ?? node["Node Type"]).join()}`;
        ok(!nodes.some((node) => node["Node Type"] === "Seq Scan"), description);
        const walks = nodes.filter((node) => node["Index Name"]?.endsWith("_elements_pkey"));
        deepEqual(walks.length, count, description);
        for (const walk of walks) ok(walk["Index Cond"]?.includes("value = "), description);
        ok(
          indexes.every((each) => /_(elements_)?pkey$/.test(each)),
          description,
        );
        const below = nodes.filter((node) => node["Node Type"] === "Limit").flatMap(nodesOf);
        if (count === 1) ok(!below.some((node) => node["Node Type"].endsWith("Sort")), description);
      }
    }
  } finally {
    await sql.end();
  }
}
