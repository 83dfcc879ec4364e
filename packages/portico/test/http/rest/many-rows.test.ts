// Code that updates or deletes many rows at once: with an event for each, as policies allow, all of them or none.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { app, choice, createServer, resource, type Server, text, users } from "../../../src/index.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";

/** More than are written by one statement. */
const count = 230;

const projects = resource("project", {
  fields: { name: text({ max: 50 }), closing: choice(["allowed", "refused"]) },
});
// Whether a row can be written depends on its own values, on those it gets, and on another row.
const issues = resource("issue", {
  parent: projects,
  fields: {
    title: text({ max: 50 }),
    status: choice(["open", "closed", "locked", "lost"], { default: "open" }),
    note: text({ max: 20, optional: true }),
  },
  filter: ["status"],
  search: ["title"],
  policy: {
    write: ({ caller }) =>
      caller.role === "owner" || {
        status: { notIn: ["locked", "lost"] },
        project: { closing: "allowed" },
      },
  },
});
const declared = app({ name: "Tracker", resources: [projects, issues] });

onEachDatabase("many rows at once", (database) => {
  let workspace: Workspace;
  let server: Server;
  const member = { user: "m@example.com" };

  // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
  async function get(path: string): Promise<any> {
    const headers = { authorization: `Bearer ${server.sandboxKey}` };
    return (await server.fetch(path, { headers })).json();
  }
  before(async () => {
    workspace = await makeWorkspace(database);
    const { databaseUrl } = workspace;
    server = await createServer(declared, { databaseUrl, publicUrl: "http://127.0.0.1:1" });
    await server.start();
    const person = { name: "m", email: member.user, role: "member" };
    await server.transaction({}, (rows) => rows.unrestricted.create(users, person));
  });
  after(async () => {
    await server?.close();
    await workspace?.remove();
  });

  /** @returns the id of a project with many issues */
  function plant(closing: "allowed" | "refused" = "allowed"): Promise<string> {
    return server.transaction({}, async (rows) => {
      const { id } = await rows.create(projects, { name: "p", closing });
      for (let index = 0; index < count; index += 1)
        await rows.create(issues, { title: `issue ${index}`, projectId: id });
      return id;
    });
  }
  function update(
    projectId: string,
    changes: { readonly status?: "open" | "closed" | "locked" | "lost"; readonly title?: string },
    status: "open" | "closed" | "locked" = "open",
  ): Promise<{ readonly count: number }> {
    return server.transaction(member, (rows) => rows.updateMany(issues, { projectId, status }, changes));
  }
  async function eventsOf(
    projectId: string,
    type: string,
  ): Promise<{ readonly data: { status: string; id: string } }[]> {
    const events = [];
    for (let path: string | null = `/v1/events?type=${type}&limit=100`; path; ) {
      const { data, pagination } = await get(path);
      events.push(
        ...data.filter((each: { data: { projectId: string } }) => each.data.projectId === projectId),
      );
      const { nextCursor, hasMore } = pagination;
      path = hasMore ? `/v1/events?type=${type}&limit=100&cursor=${nextCursor}` : null;
    }
    return events;
  }

  test("rows are updated with an event each, and searched fields are found by their new values", async () => {
    const projectId = await plant();
    assert.deepEqual(await update(projectId, { status: "closed" }), { count });
    const events = await eventsOf(projectId, "issue.updated");
    assert.equal(new Set(events.map(({ data }) => data.id)).size, count);
    assert.ok(events.every(({ data }) => data.status === "closed"));
    const { data } = await get(`/projects/${projectId}/issues?status=closed&limit=100`);
    assert.equal(data.length, 100);
    assert.ok(data.every((row: { updatedAt: string; createdAt: string }) => row.updatedAt > row.createdAt));
    assert.deepEqual(await update(projectId, { title: "renamed" }, "closed"), { count });
    assert.equal((await get(`/projects/${projectId}/issues?q=renamed&limit=100`)).data.length, 100);
    assert.equal((await get(`/projects/${projectId}/issues?q=issue`)).data.length, 0);
  });

  test("all are written or none, if a row, its new values or another row refuse one", async () => {
    const projectId = await plant();
    const [last] = (await get(`/projects/${projectId}/issues?limit=1`)).data;
    await server.transaction({}, (rows) => rows.update(issues, last.id, { status: "locked" }));
    const all = { projectId };
    const forbidden = { code: "forbidden" };
    const write = (work: Parameters<Server["transaction"]>[1]) => server.transaction(member, work);
    await assert.rejects(
      write((rows) => rows.updateMany(issues, all, { note: "x" })),
      forbidden,
    );
    await assert.rejects(
      write((rows) => rows.deleteMany(issues, all)),
      forbidden,
    );
    await assert.rejects(update(projectId, { status: "lost" }), forbidden);
    const refused = await plant("refused");
    await assert.rejects(update(refused, { status: "closed" }), forbidden);
    await assert.rejects(
      write((rows) => rows.deleteMany(issues, { projectId: refused })),
      forbidden,
    );
    for (const id of [projectId, refused]) {
      const { data } = await get(`/projects/${id}/issues?status=open&limit=100`);
      assert.equal(data.length, 100);
      assert.ok(data.every(({ note }: { note: unknown }) => note === null));
      assert.equal((await eventsOf(id, "issue.deleted")).length, 0);
    }
  });

  test("rows are deleted with an event each", async () => {
    const projectId = await plant();
    const where = { projectId, status: "open" } as const;
    assert.deepEqual(await server.transaction(member, (rows) => rows.deleteMany(issues, where)), { count });
    assert.equal((await eventsOf(projectId, "issue.deleted")).length, count);
    assert.deepEqual((await get(`/projects/${projectId}/issues`)).data, []);
  });
});
