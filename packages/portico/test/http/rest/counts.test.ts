// Counts: how many rows refer to a row, of those that the caller sees.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  app,
  belongsTo,
  boolean,
  choice,
  count,
  type Resource,
  resource,
  text,
  users,
} from "../../../src/index.ts";
import { expectAnswer, scenarios, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const projects = resource("project", {
  fields: {
    name: text({ max: 100 }),
    openIssues: count(() => issues, { where: { status: "open" }, description: "Issues to do." }),
    mine: count(() => issues, { where: { OR: [{ title: { startsWith: "My " } }, { isPinned: true }] } }),
    memberships: count(() => members),
    blockedIssues: count((): Resource => issues, { by: "blockedBy" }),
  },
  policy: ({ caller }) => caller.role === "owner" || { members: { some: { userId: caller.userId } } },
});

const members = resource("member", { parent: projects, fields: { user: belongsTo(() => users) } });

const issues = resource("issue", {
  parent: projects,
  fields: {
    title: text({ max: 100 }),
    status: choice(["open", "closed"], { default: "open" }),
    isPinned: boolean({ default: false }),
    isSecret: boolean({ default: false }),
    blockedBy: belongsTo(() => projects, { optional: true }),
    comments: count(() => comments),
  },
  policy: ({ caller }) => caller.role === "owner" || { isSecret: false },
});

const comments = resource("comment", { parent: issues, fields: { body: text({ max: 100 }) } });

const declared = app({
  name: "Counted",
  resources: [projects, members, issues, comments],
  roles: {
    owner: "*",
    member: ["projects:read", "projects:write", "issues:read", "members:read", "comments:read"],
  },
});

interface Planted {
  readonly project: string;
  readonly empty: string;
  readonly member: string;
}

onEachDatabase("counts", (database) => {
  const planted: { -readonly [Name in keyof Planted]: string } = { project: "", empty: "", member: "" };
  const server = serve(database, {
    app: declared,
    prepare: async (started) => {
      const user = await started.create("/users", { name: "Ann", email: "ann@example.com", role: "member" });
      const scopes = ["projects:read", "issues:read"];
      planted.member = (await started.create("/v1/api-keys", { name: "Ann", scopes, ownerId: user.id })).key;
      planted.project = (await started.create("/projects", { name: "Counted" })).id;
      planted.empty = (await started.create("/projects", { name: "Empty" })).id;
      await started.create(`/projects/${planted.project}/members`, { userId: user.id });
      const bodies = [
        { title: "My first", status: "open" },
        { title: "Secret", status: "open", isSecret: true },
        { title: "Pinned", status: "closed", isPinned: true, blockedById: planted.empty },
        { title: "Other", status: "open" },
      ];
      for (const body of bodies) {
        const issue = await started.create(`/projects/${planted.project}/issues`, body);
        if (body.isPinned) await started.create(`/issues/${issue.id}/comments`, { body: "First" });
      }
    },
  });

  test("a count is computed for each row that selects it, in lists and for a single row", async () => {
    const { body } = await server.request(
      "/projects?fields=name,openIssues,mine,memberships,blockedIssues&sort=createdAt",
    );
    const counts = { name: "Counted", openIssues: 3, mine: 2, memberships: 1, blockedIssues: 0 };
    const none = { name: "Empty", openIssues: 0, mine: 0, memberships: 0, blockedIssues: 1 };
    assert.deepEqual(body.data, [
      { id: planted.project, ...counts },
      { id: planted.empty, ...none },
    ]);
    const one = await server.request(`/projects/${planted.project}?fields=openIssues`);
    assert.deepEqual(one.body, { id: planted.project, openIssues: 3 });
    const nested = await server.request(
      `/projects/${planted.project}/issues?fields=comments,project.openIssues&limit=2`,
    );
    assert.deepEqual(
      nested.body.data.map(({ id: _, ...row }: { id: string }) => row),
      [
        { comments: 0, project: { id: planted.project, openIssues: 3 } },
        { comments: 1, project: { id: planted.project, openIssues: 3 } },
      ],
    );
  });

  test("a row has no counts unless they are selected, and its entity tag is that of what is selected", async () => {
    const whole = await server.request(`/projects/${planted.project}`);
    assert.deepEqual(Object.keys(whole.body), ["id", "name", "createdAt", "updatedAt"]);
    const path = `/projects/${planted.empty}?fields=blockedIssues`;
    const before = await server.request(path);
    const { id } = await server.create(`/projects/${planted.project}/issues`, {
      ...{ title: "Blocked", status: "closed", blockedById: planted.empty },
    });
    const headers = { "if-none-match": before.headers.get("etag")! };
    expectAnswer(await server.request(path, { headers }), { status: 200, body: { blockedIssues: 2 } });
    await server.request(`/issues/${id}`, { method: "DELETE" });
    assert.equal((await server.request(path, { headers })).status, 304);
  });

  test("only rows that the caller sees are counted", async () => {
    const { body } = await server.request("/projects?fields=openIssues,mine", { key: planted.member });
    assert.deepEqual(body.data, [{ id: planted.project, openIssues: 2, mine: 2 }]);
    const query = "{ projects { openIssues issues { comments } } }";
    const graphql = await server.request("/graphql", {
      body: { query: "{ projects { openIssues } }" },
      key: planted.member,
    });
    assert.deepEqual(graphql.body, { data: { projects: [{ openIssues: 2 }] } });
    expectAnswer(await server.request("/graphql", { body: { query }, key: planted.member }), { status: 200 });
  });

  test("GraphQL has counts as fields that are never null, under any name and at any level", async () => {
    const query = `{
      project(id: "${planted.project}") { todo: openIssues mine issuesAsProject(first: 2) { comments project { memberships } } }
      __type(name: "Project") { fields { name type { kind ofType { name } } } }
    }`;
    const { body } = await server.request("/graphql", { body: { query } });
    assert.deepEqual(body.data.project, {
      ...{ todo: 3, mine: 2 },
      issuesAsProject: [
        { comments: 0, project: { memberships: 1 } },
        { comments: 1, project: { memberships: 1 } },
      ],
    });
    const field = body.data.__type.fields.find(({ name }: { name: string }) => name === "openIssues");
    assert.deepEqual(field.type, { kind: "NON_NULL", ofType: { name: "Int" } });
  });

  test("a mutation returns the count after it", async () => {
    const query = `mutation { createProject(input: { name: "New" }) { id openIssues } }`;
    const { body } = await server.request("/graphql", { body: { query } });
    assert.equal(body.data.createProject.openIssues, 0);
    await server.request(`/projects/${body.data.createProject.id}`, { method: "DELETE" });
  });

  test("exports have the counts that they select", async () => {
    const exported = async (query: string): Promise<string> => {
      const headers = { authorization: `Bearer ${server.portico.key}` };
      return (await fetch(`${server.url}/v1/exports/projects?${query}`, { headers })).text();
    };
    assert.deepEqual(
      (await exported("fields=name,openIssues"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
      [
        { id: planted.project, name: "Counted", openIssues: 3 },
        { id: planted.empty, name: "Empty", openIssues: 0 },
      ],
    );
    assert.equal(
      await exported("fields=openIssues&format=csv"),
      `id,openIssues\r\n${planted.project},3\r\n${planted.empty},0\r\n`,
    );
  });

  scenarios(server, [
    {
      fact: "a count cannot be written",
      path: "/projects",
      body: { name: "Written", openIssues: 3 },
      status: 422,
      details: [{ field: "openIssues", issue: "read_only" }],
    },
    {
      fact: "a count cannot be updated",
      path: () => `/projects/${planted.project}`,
      method: "PATCH",
      body: { openIssues: 3 },
      status: 422,
      details: [{ field: "openIssues", issue: "read_only" }],
    },
    {
      fact: "rows are not filtered by a count",
      path: "/projects?openIssues=3",
      status: 422,
      details: [{ field: "openIssues", issue: "unknown" }],
    },
    {
      fact: "rows are not sorted by a count",
      path: "/projects?sort=openIssues",
      status: 422,
      details: [{ field: "sort", issue: "choice" }],
    },
    {
      fact: "nothing can be selected of a count",
      path: "/projects?fields=openIssues.id",
      status: 422,
      details: [{ field: "fields", issue: "unknown" }],
    },
  ]);

  test("counting needs the scope for reading what is counted", async () => {
    const options = { key: planted.member };
    expectAnswer(await server.request("/projects?fields=memberships", options), {
      ...{ status: 403, code: "insufficient_scope", message: /members:read/ },
    });
    const answer = await server.request("/graphql", {
      ...options,
      body: { query: "{ projects { memberships } }" },
    });
    assert.equal(answer.body.errors[0].extensions.code, "insufficient_scope");
  });
});
