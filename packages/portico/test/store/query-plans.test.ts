// The query plan of every page that the declarations allow scans a range of one index, or, as a slow read, the index of
// the sort within the tenant. No plan scans or sorts the table.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import postgres from "postgres";
import service from "../../../../portico.config.ts";
import { declareApiKeys } from "../../src/auth/api-keys/resource.ts";
import { passwordsTable } from "../../src/auth/users/password.ts";
import { users } from "../../src/auth/users/resource.ts";
import { orderedChoices } from "../../src/declare/field.ts";
import { eventsTable } from "../../src/events/event.ts";
import { inverseLists } from "../../src/graphql/schema/naming.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { type Attribute, defaultSort, type Model, type ResourceModel } from "../../src/model/model.ts";
import { isComparison, maxSeparateValues } from "../../src/query/condition.ts";
import type { Read, ReadOne, Sort } from "../../src/query/read.ts";
import { select, wholeRow } from "../../src/query/selection.ts";
import { compileGet } from "../../src/store/compile/get.ts";
import { compileList } from "../../src/store/compile/list.ts";
import { openStore } from "../../src/store/open.ts";
import { partOf } from "../../src/store/schema/index-names.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import { storedAttributes } from "../../src/store/schema/resource-table.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { requestLogs } from "../../src/usage/tables.ts";
import library from "../fixtures/library/portico.config.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";
import { everyRead } from "./every-read.ts";

const apps = { service, library };
const ignore = async (): Promise<void> => {};
const notices = { created: ignore, rotated: ignore, revoked: ignore };
const apiKeys = declareApiKeys({
  environment: "test",
  expiringSoonDays: 7,
  standardQuota: { limit: 1000, windowSeconds: 60 },
  notices,
});
const tenantId = "tenant 1";
const tenantNo = 1;
/** Enough rows for a planner to prefer an index. */
const rowsPerTable = 12_000;

for (const [appName, app] of Object.entries(apps)) {
  const model = buildModel(app, [users, apiKeys, requestLogs]);

  onEachDatabase(`query plans of the ${appName}`, (database) => {
    let workspace: Workspace;
    let store: Store;
    before(async () => {
      workspace = await makeWorkspace(database);
      store = await openStore(workspace.databaseUrl);
      await migrate(store, tablesOf(model, [tenantsTable, passwordsTable, eventsTable]));
    });
    after(async () => {
      await store?.database.close();
      await workspace?.remove();
    });

    test("every index of a resource begins with the tenant, except indexes of globally unique keys", async () => {
      for (const resource of model.resources) {
        const columns = await firstColumns(store, resource);
        assert.ok(columns.length > 1);
        const global = resource.attributes
          .filter(({ unique }) => unique === "all tenants")
          .map(({ column }) => column);
        assert.deepEqual(
          columns.filter((column) => column !== "tenant_no"),
          global,
          resource.name,
        );
      }
    });

    const explain = database === "sqlite" ? explainInSqlite : explainInPostgres;
    test("every page uses an index that begins with the tenant and the filter, or is a slow read that uses that of its sort", () =>
      explain(workspace, store, model));

    test("only pages that read more than a range of an index are slow reads", () => {
      for (const { name, read, way, filters } of everyRead(model)) {
        // A list that is filtered by the sorted attribute is read from its first row on, and numbered pages are counted.
        const isSorted = filters.includes(read.sort[0].attribute) && isEquality(read, read.sort[0].attribute);
        const isSlow = way !== "along a range" || read.page.style === "page" || isSorted;
        assert.equal(compileList(store.dialect, read).mayScan, isSlow, name);
      }
    });

    test("a filter by up to 20 values reads one range of its index for each, in the default sort", () =>
      explainSeveralValues(workspace, store, model));

    test("every list of children uses the index of its reference", () =>
      explainLists(workspace, store, model));
  });
}

/** The lists of rows that refer to a row, newest first. */
function everyBackwardRead(model: Model): { read: ReadOne; reference: Attribute }[] {
  return model.resources.flatMap((target) =>
    inverseLists(model, target).map(({ name, resource, reference }) => {
      const sort: Sort = [{ attribute: resource.sorts.get(defaultSort)!, isDescending: true }];
      const selection = wholeRow(resource);
      const list = {
        kind: "list",
        name,
        resource,
        reference,
        selection,
        conditions: [],
        sort,
        limit: 10,
      } as const;
      const read = { resource: target, selection: select([], [list]), id: "row_00000005", conditions: [] };
      return { read, reference };
    }),
  );
}

async function explainLists({ databaseUrl }: Workspace, store: Store, model: Model): Promise<void> {
  if (store.dialect.name === "sqlite") {
    for (const { read, reference } of everyBackwardRead(model)) {
      const statement = compileGet(store.dialect, read, undefined);
      const explained = { sql: `explain query plan ${statement.sql}`, bind: statement.bind };
      const plan = (await store.database.query(explained, { tenantId, tenantNo, read })).map((row) =>
        String(row[3]),
      );
      const walk = `\\(tenant_no=\\? AND ${reference.column}=\\?\\)$`;
      assert.ok(
        plan.some(
          (line) => line.startsWith("SEARCH r_0 USING INDEX portico_") && new RegExp(walk).test(line),
        ),
        plan.join("\n"),
      );
      assert.ok(!plan.includes("USE TEMP B-TREE FOR ORDER BY"), plan.join("\n"));
    }
    return;
  }
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    for (const { read } of everyBackwardRead(model)) {
      const statement = compileGet(store.dialect, read, undefined);
      const [row] = await sql.unsafe(`explain (generic_plan, format json) ${statement.sql}`).simple();
      const types = nodesOf(row!["QUERY PLAN"][0].Plan).map((node) => node["Node Type"]);
      assert.ok(!types.some((type) => type === "Seq Scan" || type.endsWith("Sort")), types.join());
    }
  } finally {
    await sql.end();
  }
}

/** First pages in the default sort, filtered by one attribute with the most values that have ranges of their own. */
function severalValues(model: Model): { read: Read; filter: Attribute }[] {
  const names = new Set<string>();
  return everyRead(model).flatMap(({ name, read, filters, way }) => {
    const [filter, ...others] = filters;
    const { sort, page, resource } = read;
    const isDefault =
      sort[0].attribute.name === defaultSort && filter !== sort[0].attribute && !filter?.unique;
    if (
      !filter ||
      others.length > 0 ||
      sort.length > 1 ||
      !isDefault ||
      page.style !== "cursor" ||
      way !== "along a range"
    )
      return [];
    if (names.has(name)) return [];
    names.add(name);
    const values = Array.from({ length: maxSeparateValues }, (_, index) =>
      filter.field.kind === "integer" || filter.field.kind === "number" ? index : `value ${index}`,
    );
    const isText = ["text", "id", "belongsTo", "integer", "number"].includes(filter.field.kind);
    if (!isText || filter === resource.parent) return [];
    const conditions = read.conditions.map((each) =>
      isComparison(each) && each.attribute === filter ? { ...each, values } : each,
    );
    return [{ read: { ...read, conditions }, filter }];
  });
}

async function explainSeveralValues({ databaseUrl }: Workspace, store: Store, model: Model): Promise<void> {
  const reads = severalValues(model);
  assert.ok(reads.length > 0);
  if (store.dialect.name === "sqlite") {
    for (const { read, filter } of reads) {
      const { sql: text, bind } = compileList(store.dialect, read);
      const explained = { sql: `explain query plan ${text}`, bind };
      const plan = (await store.database.query(explained, { tenantId, tenantNo, read })).map((row) =>
        String(row[3]),
      );
      const walks = plan.filter((line) => line.startsWith("SEARCH r USING "));
      const isOfFilter = (line: string): boolean =>
        line.includes("(tenant_no=?") && line.includes(`${filter.column}=?`);
      assert.ok(walks.length >= maxSeparateValues && walks.every(isOfFilter), plan.join("\n"));
      assert.ok(!plan.some((line) => /^SCAN .* USING/.test(line)), plan.join("\n"));
    }
    return;
  }
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    for (const { read } of reads) {
      const { sql: text } = compileList(store.dialect, read);
      const [row] = await sql.unsafe(`explain (generic_plan, format json) ${text}`).simple();
      const nodes = nodesOf(row!["QUERY PLAN"][0].Plan);
      const walks = nodes.filter((node) => node["Index Name"] !== undefined);
      assert.ok(!nodes.some((node) => node["Node Type"] === "Seq Scan"));
      assert.equal(walks.length, maxSeparateValues);
      // If half of the rows match a filter, the planner can use the index of the sort alone.
      for (const walk of walks) assert.match(walk["Index Cond"] ?? "", /tenant_no = /);
    }
  } finally {
    await sql.end();
  }
}

/** The first column of every index of a resource's table. */
async function firstColumns(store: Store, { table }: ResourceModel): Promise<unknown[]> {
  const text =
    store.dialect.name === "sqlite"
      ? `select c.name from pragma_index_list('${table}') i, pragma_index_info(i.name) c where c.seqno = 0`
      : `select (regexp_match(indexdef, 'USING btree \\((\\w+)'))[1] from pg_indexes
         where tablename = '${table}' and indexdef not like '%USING gin%'`;
  const rows = await store.database.query({ sql: text, bind: () => [] }, undefined);
  return rows.map(([column]) => column);
}

async function explainInSqlite(_place: Workspace, store: Store, model: Model): Promise<void> {
  for (const { name, read, filters, way, isMerged } of everyRead(model)) {
    const statement = compileList(store.dialect, read);
    const explained = { sql: `explain query plan ${statement.sql}`, bind: statement.bind };
    const plan = (await store.database.query(explained, { tenantId, tenantNo, read })).map((row) =>
      String(row[3]),
    );
    const description = `${name}\n${plan.join("\n")}`;
    const searches = plan.filter((line) =>
      /^SEARCH r USING (COVERING )?INDEX (portico|sqlite_autoindex)_/.test(line),
    );
    // Only results of searches are scanned, one for each subquery; there is no scan of an index or a table.
    assert.equal(searches.length, (isMerged ? 2 : 1) + (read.page.style === "page" ? 1 : 0), description);
    assert.ok(!plan.some((line) => /^SCAN .* USING/.test(line)), description);
    if (!isMerged) assert.ok(!plan.includes("USE TEMP B-TREE FOR ORDER BY"), description);
    const isCounted = read.page.style === "page";
    const pages = isCounted ? searches.slice(0, -1) : searches;
    const total = isCounted ? searches.at(-1) : undefined;
    for (const line of searches) {
      assert.match(line, /\(tenant_no=\?/, description);
      if (read.resource.parent) assert.ok(line.includes(`${read.resource.parent.column}=?`), description);
      // The rows of a numbered page are counted along the index of the filter.
      if (way === "along the sort" && line !== total) continue;
      for (const filter of filters)
        if (filter !== read.sort[0].attribute) assert.ok(line.includes(`${filter.column}=?`), description);
    }
    if (way === "along the sort") {
      // Rows without a sort value are in the order of their ids, which the index of a sort by the filter has as well.
      const isOfNulls = read.page.style === "cursor" && (isMerged || read.page.position?.values[0] === null);
      const sorts = [read.sort[0].attribute, ...(isOfNulls ? filters : [])];
      const names = sorts.map((attribute) => `INDEX ${indexOfSort(read, attribute)} (`);
      for (const line of pages)
        assert.ok(
          names.some((name) => line.includes(name)),
          description,
        );
    }
    // A list that is filtered by the sorted attribute has one value, and the scan of the index begins at its first row.
    const isOfOneValue = filters.includes(read.sort[0].attribute) || filters.some(isUnique);
    if (read.page.style === "cursor" && read.page.position && !isOfOneValue) {
      assert.ok(
        searches.some((line) => /[<>]|=\? AND id/.test(line)),
        description,
      );
    }
  }
}

/** A filter by a unique attribute matches one row, which needs no sort. */
function isUnique({ unique }: Attribute): boolean {
  return unique !== undefined;
}

/** The name of the index that has only the rows of the list in its order. */
function indexOfSort({ resource: { table, parent }, sort }: Read, attribute = sort[0].attribute): string {
  const { column: name, isNullable, field } = attribute;
  const ranked = orderedChoices(field);
  const sorted = partOf({ name, isNullable, ...(ranked && { ranked }) });
  const columns = [...(parent ? [parent.column] : []), sorted, "id"];
  return `portico_${table}_${columns.join("_")}`;
}

function isEquality({ conditions }: Read, attribute: Attribute): boolean {
  return conditions.some(
    (each) => isComparison(each) && each.attribute === attribute && each.operator === "in",
  );
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

async function explainInPostgres({ databaseUrl }: Workspace, store: Store, model: Model): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await fill(sql, model);
    for (const { name, read, filters, way, isMerged } of everyRead(model)) {
      const statement = compileList(store.dialect, read);
      // PostgreSQL first plans a statement for its values, and later once for all values.
      const plans = [
        await sql.unsafe(
          `explain (format json) ${statement.sql}`,
          statement.bind({ tenantId, tenantNo, read }) as postgres.ParameterOrJSON<never>[],
        ),
        await sql.unsafe(`explain (generic_plan, format json) ${statement.sql}`).simple(),
      ];
      for (const [row] of plans) {
        const nodes = nodesOf(row!["QUERY PLAN"][0].Plan);
        const description = `${name}\n${JSON.stringify(nodes.map(({ Plans, ...node }) => node["Index Name"] ?? node["Node Type"]))}`;
        const below = nodes.filter((node) => node["Node Type"] === "Limit").flatMap(nodesOf);
        // The total of numbered pages counts all rows of the tenant, with any plan.
        const pageNodes = read.page.style === "page" ? below : nodes;
        assert.ok(!pageNodes.some((node) => node["Node Type"] === "Seq Scan"), description);
        if (isMerged || filters.some(isUnique)) continue;
        if (way === "along the sort") {
          // Half of the rows pass the filter, so that the planner finds a page soon.
          assert.deepEqual(
            below.flatMap((node) => node["Index Name"] ?? []),
            [indexOfSort(read)],
            description,
          );
        }
        assert.ok(!below.some((node) => node["Node Type"].endsWith("Sort")), description);
        const walks = below.filter((node) => node["Index Name"] !== undefined);
        assert.equal(walks.length, 1, description);
        // If half of the rows match a filter, the planner can use the index of the sort alone.
        assert.match(walks[0]!["Index Cond"] ?? "", /tenant_no = /, description);
      }
    }
  } finally {
    await sql.end();
  }
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/**
 * Inserts rows of three tenants, so that every filter matches more than a few pages: a planner rightly prefers to sort a
 * handful of rows. The reads use the same values.
 */
async function fill(sql: postgres.Sql, model: Model): Promise<void> {
  // The rows of references need not exist for a plan.
  await sql.unsafe("set session_replication_role = replica");
  for (const resource of model.resources) {
    const { table, search } = resource;
    const attributes = storedAttributes(resource);
    const values = attributes.map(({ column, field, isNullable, unique }, index) => {
      const value = valueExpression(column, field, unique !== undefined, (bound) => drawn(bound, index + 1));
      return isNullable ? `case when ${drawn(3, -index)} = 0 then null else ${value} end` : value;
    });
    const searchWords =
      search.length > 0 ? { name: ", search_words", value: ", 'word ' || n" } : { name: "", value: "" };
    await sql.unsafe(`insert into ${table} (tenant_no, ${attributes.map(({ column }) => `"${column}"`).join(", ")}${searchWords.name})
      select n % 3, ${values.join(", ")}${searchWords.value} from generate_series(1, ${rowsPerTable}) n`);
    await sql.unsafe(`analyze ${table}`);
  }
}

/** An SQL expression for a number below `bound` that depends on the row and, differently, on the index of the column. */
function drawn(bound: number, index: number): string {
  return `abs(hashint4(n + ${index * 100_000}) % ${bound})`;
}

function valueExpression(
  column: string,
  field: ResourceModel["attributes"][number]["field"],
  isUnique: boolean,
  draw: (bound: number) => string,
): string {
  if (column === "id") return "'row_' || lpad(n::text, 8, '0')";
  if (isUnique) return "'value ' || n";
  switch (field.kind) {
    case "integer":
    case "number":
      return `4 + ${draw(2)}`;
    case "boolean":
      return `${draw(2)} = 0`;
    case "timestamp":
      return `timestamptz '2026-01-01' + ${draw(2)} * interval '7 seconds'`;
    case "decimal":
      return `4 + ${draw(2)}`;
    case "date":
      return `'2026-01-0' || 1 + ${draw(2)}`;
    case "choice":
      return `(array['${field.choices.join("','")}'])[1 + ${draw(field.choices.length)}]`;
    case "json":
    case "list":
      return "'[]'::json";
    default:
      return `'value ' || 4 + ${draw(2)}`;
  }
}
