// Actions on collections, and what code knows of the parent, over REST and GraphQL.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  app,
  boolean,
  choice,
  createServer,
  integer,
  Problem,
  resource,
  type Server,
  text,
} from "../../../src/index.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";

const projects = resource("project", {
  fields: { name: text({ max: 50 }), isArchived: boolean({ default: false }) },
  policy: ({ caller }) => caller.role === "owner" || { name: { not: "hidden" } },
});
const issues = resource("issue", {
  parent: projects,
  fields: {
    title: text({ max: 50 }),
    status: choice(["open", "closed"], { default: "open" }),
    path: text({ max: 200, readOnly: true }),
  },
  policy: { write: ({ caller }) => caller.role === "owner" || { title: { not: "kept" } } },
  hooks: {
    before: {
      create: ({ title }, { parent, parentId }) => {
        if (parent.isArchived) throw new Problem("conflict", "The project is archived.");
        return { path: `${parentId}/${parent.name}/${title}` };
      },
    },
  },
  actions: {
    closings: {
      on: "collection",
      verb: "close",
      input: { title: text({ max: 50, optional: true }) },
      run: ({ rows, parentId, input }): Promise<{ count: number }> =>
        rows.updateMany(
          issues,
          { projectId: parentId, status: "open", ...(input.title !== null && { title: input.title }) },
          { status: "closed" },
        ),
    },
    summaries: {
      on: "collection",
      verb: "summarize",
      input: { isWrong: boolean({ default: false }) },
      answer: { open: integer(), project: text({ max: 50 }), by: text({ max: 50, optional: true }) },
      run: async ({ rows, parent, input }): Promise<{ open: number; project: string }> => {
        const open = await rows.count(issues, { projectId: parent.id, status: "open" });
        const answer = { open, project: parent.name, secret: "not declared" };
        return input.isWrong ? ({ project: parent.name } as typeof answer) : answer;
      },
    },
  },
});
const notes = resource("note", {
  fields: { text: text({ max: 50 }) },
  actions: {
    sweeps: {
      on: "collection",
      input: {},
      run: ({ rows }): Promise<{ count: number }> => rows.deleteMany(notes, { text: "old" }),
    },
  },
});
const declared = app({ name: "Tracker", resources: [projects, issues, notes] });

onEachDatabase("actions on collections", (database) => {
  let workspace: Workspace;
  let server: Server;
  let memberKey: string;
  let readingKey: string;

  interface Answer {
    readonly status: number;
    readonly headers: Headers;
    // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
    readonly body: any;
  }
  async function request(
    path: string,
    body?: object,
    { key = server.sandboxKey, headers = {} }: { key?: string | undefined; headers?: object } = {},
  ): Promise<Answer> {
    const response = await fetch(server.url + path, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }
  async function plant(name: string, titles: readonly string[]): Promise<string> {
    const { id } = (await request("/projects", { name })).body;
    for (const title of titles) await request(`/projects/${id}/issues`, { title });
    return id;
  }
  before(async () => {
    workspace = await makeWorkspace(database);
    const { databaseUrl } = workspace;
    server = await createServer(declared, { databaseUrl, port: 0, log: { write: () => {} } });
    await server.listen();
    const { id } = (await request("/users", { name: "m", email: "m@example.com", role: "member" })).body;
    const keyOf = async (scopes: readonly string[]): Promise<string> =>
      (await request("/v1/api-keys", { name: "m", scopes, ownerId: id })).body.key;
    memberKey = await keyOf(["issues:read", "issues:write", "notes:write"]);
    readingKey = await keyOf(["issues:read"]);
  });
  after(async () => {
    await server?.close();
    await workspace?.remove();
  });

  test("hooks of a new row know its parent, over every protocol", async () => {
    const id = await plant("Door", []);
    const created = await request(`/projects/${id}/issues`, { title: "a" });
    assert.equal(created.body.path, `${id}/Door/a`);
    const query = `mutation { createIssue(input: { projectId: "${id}", title: "b" }) { path } }`;
    const { data } = (await request("/graphql", { query })).body;
    assert.equal(data.createIssue.path, `${id}/Door/b`);
    const archived = (await request("/projects", { name: "Old", isArchived: true })).body.id;
    assert.equal((await request(`/projects/${archived}/issues`, { title: "a" })).status, 409);
  });

  test("an action on a collection writes rows, and answers what it declares", async () => {
    const id = await plant("Door", ["a", "a", "b"]);
    const other = await plant("Wall", ["a"]);
    const path = `/projects/${id}/issues`;
    const one = await request(`${path}/closings`, { title: "a" });
    assert.deepEqual([one.status, one.body], [200, { count: 2 }]);
    const summary = await request(`/v1${path}/summaries`, {});
    assert.deepEqual(summary.body, { open: 1, project: "Door", by: null });
    assert.deepEqual((await request(`${path}/closings`, {})).body, { count: 1 });
    assert.deepEqual((await request(`/projects/${other}/issues/summaries`, {})).body.open, 1);
    for (const line of ["old", "old", "new"]) await request("/notes", { text: line });
    assert.deepEqual((await request("/notes/sweeps", {})).body, { count: 2 });
    assert.equal((await request("/notes/sweeps")).status, 404);
  });

  test("GraphQL has a mutation with its verb", async () => {
    const id = await plant("Door", ["a", "b"]);
    const query = `mutation {
      some: closeIssues(projectId: "${id}", input: { title: "a" }) { count }
      summarizeIssues(projectId: "${id}") { __typename left: open project by }
    }`;
    const { body } = await request("/graphql", { query });
    assert.deepEqual(body.data, {
      some: { count: 1 },
      summarizeIssues: { __typename: "SummarizeIssuesPayload", left: 1, project: "Door", by: null },
    });
  });

  test("it needs the scope, the parent and valid input, and obeys policies", async () => {
    const hidden = await plant("hidden", ["a"]);
    const kept = await plant("Kept", ["a", "kept"]);
    const statusOf = async (id: string, body: object, key?: string): Promise<[number, string]> => {
      const answer = await request(`/projects/${id}/issues/closings`, body, { key });
      return [answer.status, answer.body.error?.code];
    };
    assert.deepEqual(await statusOf(kept, {}, readingKey), [403, "insufficient_scope"]);
    assert.deepEqual(await statusOf(hidden, {}, memberKey), [404, "not_found"]);
    assert.deepEqual(await statusOf("project_none", {}), [404, "not_found"]);
    assert.deepEqual(await statusOf(kept, { title: 5, more: 1 }), [422, "validation_error"]);
    assert.deepEqual(await statusOf(kept, {}, memberKey), [403, "forbidden"]);
    const { body } = await request(`/projects/${kept}/issues/summaries`, {});
    assert.equal(body.open, 2);
    const wrong = await request(`/projects/${kept}/issues/summaries`, { isWrong: true });
    assert.equal(wrong.status, 500);
    assert.match(wrong.body.error.message, /^the action summaries of issue returned a wrong answer: .*open/);
  });

  test("it runs once for an Idempotency-Key", async () => {
    const id = await plant("Door", ["a"]);
    const headers = { "idempotency-key": `close ${id}`.replace(" ", "-") };
    const path = `/projects/${id}/issues/closings`;
    const [first, second] = [await request(path, {}, { headers }), await request(path, {}, { headers })];
    assert.deepEqual([first.body, second.body], [{ count: 1 }, { count: 1 }]);
    assert.equal(second.headers.get("idempotent-replayed"), "true");
  });
});
