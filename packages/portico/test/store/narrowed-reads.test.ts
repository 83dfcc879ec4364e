// Lists by conditions on related rows: where few rows meet the condition, the page reads the ranges of indexes that they
// name, and nothing else; where many do, it walks the index of its sort, first a part of it. All show the same rows.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import postgres from "postgres";
import { app, belongsTo, choice, resource, text, users } from "../../src/index.ts";
import type { Comparison, Condition } from "../../src/query/condition.ts";
import { createServer, type PorticoServer } from "../../src/server.ts";
import { compileFewRows } from "../../src/store/compile/few-rows.ts";
import type { Statement } from "../../src/store/database.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";

const authors = resource("author", { fields: { name: text({ max: 20 }), rank: choice(["top", "low"]) } });
const posts = resource("post", {
  fields: { title: text({ max: 20 }), author: belongsTo(() => authors, { optional: true }) },
  filter: ["author.name", "author.rank", "remarks.word", "pins.id"],
  sort: ["title"],
});
const remarks = resource("remark", { parent: posts, fields: { word: text({ max: 20 }) } });
/** Members see those of one post. */
let pinned = "";
const pins = resource("pin", {
  fields: { post: belongsTo(() => posts) },
  policy: ({ caller: { role } }) => role === "owner" || { postId: pinned },
});
const teams = resource("team", { fields: { name: text({ max: 20 }) }, filter: ["members.userId"] });
const members = resource("member", {
  fields: { team: belongsTo(() => teams), user: belongsTo(() => users) },
  unique: [["teamId", "userId"]],
});
const projects = resource("project", {
  fields: {
    name: text({ max: 20 }),
    team: belongsTo(() => teams),
    owner: belongsTo(() => users, { optional: true }),
  },
  sort: ["name"],
  policy: ({ caller: { role, userId } }) =>
    role === "owner" || { OR: [{ ownerId: userId }, { team: { members: { some: { userId } } } }] },
});
const tickets = resource("ticket", {
  parent: projects,
  fields: { name: text({ max: 20 }) },
  nestedUnder: ["tenant"],
});
const parcels = resource("parcel", {
  fields: { name: text({ max: 20 }), author: belongsTo(() => authors, { optional: true }) },
  filter: ["author.rank", "labels.word"],
});
const labels = resource("label", { parent: parcels, fields: { word: text({ max: 20 }) }, filter: ["word"] });
const declared = app({
  name: "Few",
  resources: [authors, posts, remarks, pins, teams, members, projects, tickets, parcels, labels],
});

interface Recorded {
  readonly statement: Statement<unknown>;
  readonly values: readonly unknown[];
}

onEachDatabase("lists by related rows", (database) => {
  let workspace: Workspace;
  let server: PorticoServer;
  const keys: Record<string, string> = {};
  const people: Record<string, string> = {};
  const tenant = { id: "" };

  async function request(path: string, key = server.sandboxKey!, body?: object) {
    const response = await fetch(server.url + path, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
    const answer: any = await response.json();
    assert.ok(response.ok, JSON.stringify(answer));
    return answer;
  }
  const make = async (path: string, body: object): Promise<string> =>
    (await request(path, undefined, body)).id;

  /** The names of all rows, read two at a time. */
  async function names(path: string, key?: string): Promise<string[]> {
    const found: string[] = [];
    for (let cursor = ""; ; ) {
      const { data, pagination } = await request(`${path}limit=2${cursor}`, key);
      found.push(...data.map((row: { name?: string; title?: string }) => row.name ?? row.title));
      if (pagination.nextCursor === null) return found;
      cursor = `&cursor=${pagination.nextCursor}`;
    }
  }

  /** The statements of a request on rows of these tables. */
  async function statementsOf(path: string, key: string, tables: readonly string[]): Promise<Recorded[]> {
    const recorded: Recorded[] = [];
    const { query } = server.store.database;
    const recording = (statement: Statement<unknown>, input: unknown) => {
      if (tables.some((table) => statement.sql.includes(`from "${table}"`)))
        recorded.push({ statement, values: statement.bind(input) });
      return query.call(server.store.database, statement, input);
    };
    Object.assign(server.store.database, { query: recording });
    try {
      await request(path, key);
    } finally {
      Object.assign(server.store.database, { query });
    }
    return recorded;
  }

  before(async () => {
    workspace = await makeWorkspace(database);
    const { databaseUrl } = workspace;
    server = await createServer(declared, { databaseUrl, port: 0, log: { write() {} } });
    await server.listen();
    tenant.id = (await request("/v1/me")).tenant.id;
    const scopes = ["projects:read", "tickets:read", "posts:read", "pins:read"];
    for (const name of ["few", "many", "nobody"]) {
      people[name] = await make("/users", { name, email: `${name}@test.example` });
      const { key } = await request("/v1/api-keys", undefined, { name, scopes, ownerId: people[name] });
      keys[name] = key;
    }
    for (let index = 0; index < 30; index += 1) {
      const team = await make("/teams", { name: `team ${index}` });
      await make("/members", { teamId: team, userId: people.many });
      if (index % 10 === 0) await make("/members", { teamId: team, userId: people.few });
      const ownerId = index === 5 ? people.few : null;
      const project = await make("/projects", { name: `${99 - index}`, teamId: team, ownerId });
      await make(`/projects/${project}/tickets`, { name: `of ${99 - index}` });
    }
    for (let index = 0; index < 50; index += 1) {
      const author = await make("/authors", { name: `${index % 25}`, rank: index % 2 ? "top" : "low" });
      const post = await make("/posts", { title: `p${index}`, authorId: author });
      if (index % 8 === 0) await make(`/posts/${post}/remarks`, { word: index < 16 ? "rare" : "word" });
    }
    await make("/posts", { title: "of nobody" });
  });
  after(async () => {
    await server?.close();
    await workspace?.remove();
  });

  const few = ["99", "94", "89", "79"];
  const many = Array.from({ length: 30 }, (_, index) => `${99 - index}`);
  for (const [caller, visible] of Object.entries({ few, many, nobody: [] }))
    test(`a caller who is a member of ${caller} sees these rows in any order, on all pages`, async () => {
      const key = keys[caller]!;
      assert.deepEqual(await names("/projects?", key), visible.toReversed());
      assert.deepEqual(await names("/projects?sort=createdAt&", key), visible);
      assert.deepEqual(await names("/projects?sort=name&", key), visible.toSorted());
      const ofTickets = visible.map((name) => `of ${name}`);
      assert.deepEqual(await names(`/tenants/${tenant.id}/tickets?`, key), ofTickets.toReversed());
    });

  test("filters by related rows show those of few and of many", async () => {
    assert.deepEqual(await names("/posts?author.name=7&"), ["p32", "p7"]);
    assert.deepEqual(await names("/posts?author.name=7&author.name=8&sort=title&"), [
      "p32",
      "p33",
      "p7",
      "p8",
    ]);
    assert.deepEqual(await names("/posts?author.name=none&"), []);
    assert.deepEqual(await names("/posts?author.rank=top&author.name=7&"), ["p7"]);
    assert.equal((await names("/posts?author.rank=top&")).length, 25);
    assert.deepEqual(await names("/posts?remarks.word=rare&"), ["p8", "p0"]);
  });

  test("a condition on the reference of related rows needs such a row, and not only the row referred to", async () => {
    const query =
      "{ postsConnection(first: 9, filter: { pins: { some: {} } }) { edges { node { title } } } }";
    const shown = async (): Promise<string[]> => {
      const { data } = await request("/graphql", keys.few, { query });
      return data.postsConnection.edges.map(({ node }: { node: { title: string } }) => node.title);
    };
    pinned = await make("/posts", { title: "not pinned" });
    assert.deepEqual(await shown(), []);
    await make("/pins", { postId: pinned });
    assert.deepEqual(await shown(), ["not pinned"]);
  });

  test("a page of few rows is a quick read of the ranges that they name, and another a bounded walk", async () => {
    const pages = [
      ["/projects", keys.few, "projects", false],
      ["/projects", keys.nobody, "projects", false],
      ["/projects", keys.many, "projects", true],
      [`/tenants/${tenant.id}/tickets`, keys.few, "tickets", false],
      ["/posts?author.name=7", undefined, "posts", false],
      ["/posts?remarks.word=rare", undefined, "posts", false],
      [`/teams?members.userId=${people.few}`, undefined, "teams", false],
      ["/posts?author.rank=top", undefined, "posts", true],
    ] as const;
    for (const [path, key = server.sandboxKey!, table, isWalk] of pages) {
      const tables = [table, "members", "teams", "authors", "remarks"];
      const recorded = await statementsOf(path, key, tables);
      const page = recorded.at(-1)!;
      assert.equal(page.statement.mayScan, false, path);
      assert.equal(page.statement.sql.includes("limit 184"), isWalk, page.statement.sql);
      for (const { statement, values } of isWalk ? recorded.slice(0, -1) : recorded)
        await assertReadsRanges(statement.sql, values);
    }
  });

  test("a page that a part of the walk does not fill is a slow read, as is one of more than a few rows", async () => {
    const author = await make("/authors", { name: "late", rank: "top" });
    for (const name of ["first", "second"]) await make("/parcels", { name, authorId: author });
    const others = Array.from({ length: 200 }, (_, index) => make("/parcels", { name: `${index}` }));
    const labelled = (await Promise.all(others)).slice(0, 60);
    await Promise.all(labelled.map((id) => make(`/parcels/${id}/labels`, { word: "often" })));
    const slow = await statementsOf("/parcels?author.rank=top", server.sandboxKey!, ["parcels"]);
    assert.deepEqual(
      slow.map(({ statement }) => statement.mayScan),
      [false, true],
    );
    assert.deepEqual(await names("/parcels?author.rank=top&"), ["second", "first"]);
    const statements = async () => {
      const recorded = await statementsOf("/parcels?labels.word=often", server.sandboxKey!, ["parcels"]);
      return recorded.map(({ statement }) => statement.mayScan);
    };
    assert.deepEqual([await statements(), await statements()], [[false, true], [true]]);
    assert.equal((await names("/parcels?labels.word=often&")).length, 60);
  });

  test("a row that is hidden after it was found is not shown", async () => {
    const { query } = server.store.database;
    let found = 0;
    const hiding = async (statement: Statement<unknown>, input: unknown) => {
      const rows = await query.call(server.store.database, statement, input);
      if (!statement.sql.startsWith('select "r"."team_id"')) return rows;
      found += rows.length;
      for (const { id } of (await request("/members?limit=100")).data)
        await fetch(`${server.url}/members/${id}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${server.sandboxKey}` },
        });
      return rows;
    };
    Object.assign(server.store.database, { query: hiding });
    try {
      const { data } = await request("/projects", keys.few);
      assert.deepEqual([found, data.map(({ name }: { name: string }) => name)], [3, ["94"]]);
    } finally {
      Object.assign(server.store.database, { query });
    }
  });

  test("related rows whose own related rows may be many are found by a slow read", () => {
    const { resource } = server.engine.model;
    const [team, member] = [resource.get("team")!, resource.get("member")!];
    const attributeOf = (of: typeof team, name: string) => of.attribute.get(name)!;
    const ids: Comparison = { attribute: attributeOf(team, "id"), operator: "in", values: ["team_1"] };
    const hasMember = {
      attribute: attributeOf(member, "teamId"),
      operator: "some",
      ...{ resource: member, conditions: [] },
    } as const;
    const compiled = (...conditions: [Comparison, ...Condition[]]) =>
      compileFewRows(server.store.dialect, { resource: team, column: ids.attribute, conditions }, 50);
    assert.equal(compiled(ids, { operator: "not", conditions: [hasMember] }).mayScan, true);
    assert.equal(compiled(ids, { operator: "not", conditions: [ids] }).mayScan, false);
  });

  /** Asserts that each table is read along an index that finds the rows by a value. */
  async function assertReadsRanges(text: string, values: readonly unknown[]): Promise<void> {
    if (database === "sqlite") {
      const explained = { sql: `explain query plan ${text}`, bind: () => [...values] };
      const plan = (await server.store.database.query(explained, undefined)).map((row) => String(row[3]));
      const reads = plan.filter(
        (line) => /^(SCAN|SEARCH) [rf]/.test(line) && !line.startsWith("SCAN r VIRTUAL"),
      );
      const isRange = (line: string): boolean => /\(tenant_no=\? AND (?!created_at)\w+=\?/.test(line);
      const ofRows = reads.filter((line) => line !== "SCAN r" && line !== "SCAN f");
      assert.ok(ofRows.length > 0 && ofRows.every(isRange), `${text}\n${plan.join("\n")}`);
      return;
    }
    const sql = postgres(workspace.databaseUrl, { max: 1, onnotice: () => {} });
    try {
      // The tables are so small that the planner would scan them.
      await sql.unsafe("set enable_seqscan = off");
      const [row] = await sql.unsafe(`explain (format json) ${text}`, values as never[]);
      const plan = JSON.stringify(row!["QUERY PLAN"]);
      assert.doesNotMatch(plan, /"Node Type":"Seq Scan"/, plan);
    } finally {
      await sql.end();
    }
  }
});
