// Policies with alternatives, callers without a user and long lists, over REST, GraphQL and subscriptions: no row too many,
// none too few, and no request that a caller can make fail.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  app,
  belongsTo,
  createServer,
  integer,
  resource,
  type Server,
  text,
  timestamp,
  users,
} from "../../../src/index.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { subscriptionStarted } from "../../support/graphql/subscriptions.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";

const leads = resource("lead", { fields: { name: text({ max: 50 }) } });
/** Tasks of one's own, and those with a lead called Ada. */
const tasks = resource("task", {
  fields: {
    title: text({ max: 50 }),
    lead: belongsTo(() => leads, { optional: true }),
    user: belongsTo(() => users, { optional: true }),
  },
  filter: ["leadId", "lead.name", "userId"],
  sort: ["title"],
  search: ["title"],
  policy: ({ caller }) =>
    caller.role === "owner" || { OR: [{ userId: caller.userId }, { user: { name: "Ada" } }] },
});
const manyNames = Array.from({ length: 900 }, (_, index) => `name ${index}`);
const manyNumbers = Array.from({ length: 900 }, (_, index) => Number.MAX_SAFE_INTEGER - index);
const manyTimes = manyNumbers.map((_, index) => new Date(1e12 + index).toISOString());
const remarks = resource("remark", {
  parent: tasks,
  fields: {
    line: text({ max: 50 }),
    mood: text({ max: 50, optional: true }),
    rank: integer({ optional: true }),
    dueAt: timestamp({ optional: true }),
  },
  policy: {
    read: ({ caller }) =>
      caller.role === "owner" || {
        OR: [
          { line: [...manyNames, "shown"] },
          { mood: { notIn: [...manyNames, "sad"] } },
          { rank: manyNumbers, dueAt: { notIn: manyTimes } },
        ],
      },
  },
});
/** Members of a club may delete its members. */
const clubs = resource("club", { fields: { name: text({ max: 50 }) } });
const members = resource("member", {
  nestedUnder: ["club"],
  // With a hook, rows are deleted one by one.
  hooks: { after: { delete: async () => {} } },
  fields: {
    club: belongsTo(() => clubs),
    user: belongsTo(() => users),
    note: text({ max: 50, optional: true }),
  },
  policy: {
    delete: ({ caller }) => ({
      club: { members: { some: { userId: caller.userId } } },
      OR: [{ note: { isNull: true } }, { note: { not: "kept" } }],
    }),
  },
});
const declared = app({ name: "Tasks", resources: [leads, tasks, remarks, clubs, members] });

onEachDatabase("conditions under attack", (database) => {
  let workspace: Workspace;
  let server: Server;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
  type Body = any;
  const keys: Record<string, string> = {};
  const ids: Record<string, string> = {};

  async function request(path: string, { by = "operator", body }: { by?: string; body?: object } = {}) {
    const response = await fetch(server.url + path, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${keys[by]}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Body };
  }
  const create = async (path: string, body: object): Promise<Body> => {
    const answer = await request(path, { body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  };
  const graphql = async (query: string, by: string, variables: object = {}): Promise<Body> => {
    const { body } = await request("/graphql", { by, body: { query, variables } });
    assert.equal(body.errors, undefined, JSON.stringify(body.errors));
    return body.data;
  };
  const titlesOf = (rows: readonly { title: string }[]): string => rows.map(({ title }) => title).join();

  before(async () => {
    workspace = await makeWorkspace(database);
    const { databaseUrl } = workspace;
    server = await createServer(declared, { databaseUrl, port: 0, log: { write: () => {} } });
    await server.listen();
    keys.operator = server.sandboxKey!;
    const scopes = [
      ...["tasks:read", "tasks:write", "remarks:read", "leads:read", "users:read"],
      ...["clubs:read", "members:read", "members:write"],
    ];
    for (const name of ["Ada", "Bob"]) {
      const user = await create("/users", { name, email: `${name}@test.example` });
      ids[name] = user.id;
      keys[name] = (await create("/v1/api-keys", { name, scopes, ownerId: user.id })).key;
    }
    const client = { name: "Robot", type: "confidential", grantTypes: ["client_credentials"], scopes };
    const { clientId, clientSecret } = await create("/v1/oauth-clients", client);
    const token = await fetch(`${server.url}/oauth/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials", scope: scopes.join(" ") }),
    });
    keys.robot = ((await token.json()) as Body).access_token;
    for (const name of ["Ada", "Eve"]) ids[`lead ${name}`] = (await create("/leads", { name })).id;
    for (const [title, userId, leadId] of [
      ["a of Ada", ids.Ada, ids["lead Eve"]],
      ["b of Bob", ids.Bob, ids["lead Ada"]],
      ["c of nobody", null, ids["lead Ada"]],
      ["d of nobody", null, null],
    ])
      ids[String(title)] = (await create("/tasks", { title, userId, leadId })).id;
  });
  after(async () => {
    await server?.close();
    await workspace?.remove();
  });

  const visible = { Ada: "a of Ada", Bob: "a of Ada,b of Bob", robot: "a of Ada" };
  for (const [by, titles] of Object.entries(visible))
    test(`${by} sees the tasks that either part of a policy shows, and none without a user`, async () => {
      assert.equal(titlesOf((await request("/tasks?sort=title", { by })).body.data), titles);
      assert.equal(titlesOf((await request("/tasks?sort=title&q=of", { by })).body.data), titles);
      assert.equal((await request("/tasks?userId[isNull]=true", { by })).body.data.length, 0);
      const nested = await graphql("{ leads { tasks { title } } }", by);
      const all = nested.leads.flatMap(({ tasks: inside }: Body) => inside);
      assert.equal(
        titlesOf(all.sort((one: Body, other: Body) => (one.title < other.title ? -1 : 1))),
        titles,
      );
      for (const title of ["a of Ada", "b of Bob", "c of nobody", "d of nobody"]) {
        const status = titles.includes(title) ? 200 : 404;
        assert.equal((await request(`/tasks/${ids[title]}`, { by })).status, status, title);
      }
    });

  test("filters of which any is enough are each checked on the row", async () => {
    const query =
      "query($filter: TaskFilter) { tasksConnection(filter: $filter, sort: TITLE_ASC) { edges { node { title } } } }";
    for (const [filter, titles] of [
      [{ OR: [{ leadId: ids["lead Eve"] }, { lead: { name: "Ada" } }] }, "a of Ada,b of Bob,c of nobody"],
      [{ OR: [{ leadId: ids["lead Ada"] }, { lead: { name: "Ada" } }] }, "b of Bob,c of nobody"],
      [{ OR: [{ leadId: ids["lead Ada"] }, { lead: { name: "Eve" } }] }, "a of Ada,b of Bob,c of nobody"],
      [{ AND: [{ leadId: ids["lead Ada"] }, { lead: { name: "Eve" } }] }, ""],
      [{ NOT: { OR: [{ leadId: ids["lead Ada"] }, { lead: { name: "Eve" } }] } }, "d of nobody"],
    ] as const) {
      const { tasksConnection } = await graphql(query, "operator", { filter });
      assert.equal(titlesOf(tasksConnection.edges.map(({ node }: Body) => node)), titles);
    }
  });

  test("a subscriber without a user gets no events of rows without one", async () => {
    const query = "subscription { taskCreated { title } }";
    const stream = await TestStream.open({ url: server.url, key: keys.robot! }, query, { key: keys.robot! });
    try {
      await subscriptionStarted();
      await create("/tasks", { title: "hidden" });
      await create("/tasks", { title: "shown", userId: ids.Ada });
      await stream.results(1);
      assert.deepEqual(
        stream.allResults.map(({ data }) => data.taskCreated.title),
        ["shown"],
      );
    } finally {
      stream.close();
    }
  });

  test("a collection is deleted as its policy was before, although the caller's own row is deleted first", async () => {
    const club = (await create("/clubs", { name: "Chess" })).id;
    const path = `/clubs/${club}/members`;
    for (const [userId, note] of [
      [ids.Bob, null],
      [ids.Ada, "x"],
      [ids.Ada, "kept"],
      [ids.Ada, null],
    ])
      await create("/members", { clubId: club, userId, note });
    const remove = async (by: string): Promise<number> => {
      const headers = { authorization: `Bearer ${keys[by]}` };
      return (await fetch(server.url + path, { method: "DELETE", headers })).status;
    };
    const notes = async (): Promise<string> =>
      (await request(path)).body.data.map(({ note }: Body) => String(note)).join();
    assert.equal(await remove("robot"), 204);
    assert.equal(await notes(), "null,kept,x,null");
    assert.equal(await remove("Bob"), 204);
    assert.equal(await notes(), "kept");
  });

  test("a policy with long lists shows its rows, in as many nested lists as a caller asks for", async () => {
    const { id } = await create("/tasks", { title: "long", userId: ids.Bob });
    for (const [line, mood, rank = null, dueAt = null] of [
      ["ranked", "sad", manyNumbers[7], "2001-09-09T01:46:40.900Z"],
      ["too low", "sad", manyNumbers[7]! - 900, null],
      ["too early", "sad", manyNumbers[7], "2001-09-09T02:46:40.899+01:00"],
      ["shown", "sad"],
      ["hidden", "sad"],
      ["name 7", "name 8"],
      ["no mood", null],
      ["happy", "happy"],
    ])
      await create(`/tasks/${id}/remarks`, { line, mood, rank, dueAt });
    const lines = (rows: readonly { line: string }[]): string =>
      rows
        .map(({ line }) => line)
        .sort()
        .join();
    const expected = "happy,name 7,no mood,ranked,shown";
    const { data } = (await request(`/tasks/${id}/remarks`, { by: "Bob" })).body;
    assert.equal(lines(data), expected);
    const aliases = Array.from({ length: 200 }, (_, index) => `a${index}: remarks(first: 9) { line }`);
    const { task } = await graphql(`{ task(id: "${id}") { ${aliases.join(" ")} } }`, "Bob");
    for (const rows of Object.values(task)) assert.equal(lines(rows as { line: string }[]), expected);
  });
});
