// Kept counts: columns that every write of a counted row corrects, to sort and filter by.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  app,
  belongsTo,
  boolean,
  choice,
  count,
  integer,
  type Resource,
  range,
  resource,
  text,
} from "../../../src/index.ts";
import { updatedAtColumn, writeDirectly } from "../../support/database-reader.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { expectAnswer, scenarios, serve, type TestServer } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const open = { status: "open" } as const;
const urgent = { OR: [{ points: { gte: 5 } }, { title: { startsWith: "b" } }], NOT: { isHidden: true } };

const projects = resource("project", {
  fields: {
    name: text({ max: 100 }),
    issues: count(() => issues, { kept: true }),
    openIssues: count(() => issues, { where: open, kept: true, description: "Issues to do." }),
    openNow: count(() => issues, { where: open }),
  },
  filter: ["openIssues", range("issues")],
  sort: ["openIssues"],
  softDelete: true,
});

const milestones = resource("milestone", {
  fields: {
    urgent: count(() => issues, { where: urgent, kept: true }),
    next: belongsTo((): Resource => milestones, { optional: true, onDelete: "cascade" }),
    previous: count((): Resource => milestones, { kept: true }),
  },
});

const issues = resource("issue", {
  parent: projects,
  fields: {
    title: text({ max: 100 }),
    status: choice(["open", "closed"], { default: "open" }),
    points: integer({ optional: true }),
    isHidden: boolean({ default: false }),
    milestone: belongsTo(() => milestones, { optional: true, onDelete: "cascade" }),
  },
});

const declared = app({ name: "Kept", resources: [projects, milestones, issues] });

interface Issue {
  readonly id: string;
  readonly projectId: string;
  readonly title: string;
  readonly status: string;
  readonly points: number | null;
  readonly isHidden: boolean;
  readonly milestoneId: string | null;
}

/** All rows of a collection. */
async function all(server: TestServer, name: string, fields = ""): Promise<readonly never[]> {
  const headers = { authorization: `Bearer ${server.portico.key}` };
  const response = await fetch(`${server.url}/v1/exports/${name}${fields && `?fields=${fields}`}`, {
    headers,
  });
  const lines = (await response.text()).split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line)) as never[];
}

/** Compares every kept count with the rows. */
async function requireExact(server: TestServer): Promise<void> {
  const rows: readonly Issue[] = await all(server, "issues");
  const isUrgent = ({ points, title, isHidden }: Issue): boolean =>
    ((points !== null && points >= 5) || title.startsWith("b")) && !isHidden;
  const counted: readonly { id: string; issues: number; openIssues: number; openNow: number }[] = await all(
    server,
    "projects",
    "issues,openIssues,openNow",
  );
  for (const { id, ...counts } of counted) {
    const own = rows.filter(({ projectId }) => projectId === id);
    const opened = own.filter(({ status }) => status === "open").length;
    assert.deepEqual(counts, { issues: own.length, openIssues: opened, openNow: opened });
  }
  const found: readonly { id: string; nextId: string; urgent: number; previous: number }[] = await all(
    server,
    "milestones",
  );
  for (const { id, ...counts } of found) {
    const own = rows.filter(({ milestoneId }) => milestoneId === id);
    assert.equal(counts.urgent, own.filter(isUrgent).length);
    assert.equal(counts.previous, found.filter(({ nextId }) => nextId === id).length);
  }
}

onEachDatabase("kept counts", (database) => {
  const server = serve(database, { app: declared });
  const status = async (path: string, method: string, body?: object): Promise<number> =>
    (await server.request(path, { method, ...(body && { body }) })).status;

  test("a count is part of the row, which every write of a counted row corrects", async () => {
    const project = await server.create("/projects", { name: "Kept" });
    assert.deepEqual([project.issues, project.openIssues], [0, 0]);
    const path = `/projects/${project.id}`;
    const counts = async (): Promise<unknown> => {
      const { body } = await server.request(path);
      return [body.issues, body.openIssues, body.updatedAt === project.updatedAt];
    };
    const { id } = await server.create(`${path}/issues`, { title: "a" });
    await server.create(`${path}/issues`, { title: "a", status: "closed" });
    assert.deepEqual(await counts(), [2, 1, true]);
    assert.equal(await status(`/issues/${id}`, "PATCH", { status: "closed" }), 200);
    assert.deepEqual(await counts(), [2, 0, true]);
    assert.equal(await status(`/issues/${id}`, "PUT", { title: "b" }), 200);
    assert.deepEqual(await counts(), [2, 1, true]);
    assert.equal(await status(`/issues/${id}`, "DELETE"), 204);
    assert.deepEqual(await counts(), [1, 0, true]);
    const changed = await server.request(path, { method: "PATCH", body: { name: "Renamed" } });
    assert.deepEqual([changed.body.issues, changed.body.openIssues], [1, 0]);
    const replaced = await server.request(path, { method: "PUT", body: { name: "Replaced" } });
    assert.equal(replaced.body.issues, 1);
    await server.request(path, { method: "DELETE" });
  });

  test("a kept count does not change the entity tag of the row", async () => {
    const { id } = await server.create("/projects", { name: "Tagged" });
    const etag = (await server.request(`/projects/${id}`)).headers.get("etag")!;
    await server.create(`/projects/${id}/issues`, { title: "a" });
    const headers = { "if-match": etag };
    const renamed = await server.request(`/projects/${id}`, {
      method: "PATCH",
      headers,
      body: { name: "b" },
    });
    expectAnswer(renamed, { status: 200, body: { issues: 1 } });
    await server.request(`/projects/${id}`, { method: "DELETE" });
  });

  test("rows are sorted, paged and filtered by a kept count, in REST and GraphQL", async () => {
    const ids: string[] = [];
    for (const number of [2, 0, 1, 1]) {
      const { id } = await server.create("/projects", { name: `${number}` });
      ids.push(id);
      for (let issue = 0; issue < number; issue += 1)
        await server.create(`/projects/${id}/issues`, { title: "a" });
    }
    const [two, none, first, second] = ids;
    const sorted: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await server.request(`/projects?sort=-openIssues&limit=1${cursor}`);
      sorted.push(body.data[0].id);
      if (!body.pagination.hasMore) break;
      cursor = `&cursor=${body.pagination.nextCursor}`;
    }
    assert.deepEqual(sorted, [two, second, first, none]);
    const idsOf = async (query: string): Promise<string[]> =>
      (await server.request(`/projects?sort=openIssues&fields=id&${query}`)).body.data.map(
        ({ id }: { id: string }) => id,
      );
    assert.deepEqual(await idsOf("openIssues=1"), [first, second]);
    assert.deepEqual(await idsOf("issues[gte]=1&issues[lt]=2"), [first, second]);
    const query =
      "{ projectsConnection(first: 2, filter: { issuesGte: 1 }, sort: OPEN_ISSUES_DESC) { edges { node { id openIssues } } } }";
    const { body } = await server.request("/graphql", { body: { query } });
    assert.deepEqual(body.data.projectsConnection.edges, [
      { node: { id: two, openIssues: 2 } },
      { node: { id: second, openIssues: 1 } },
    ]);
    for (const id of ids) await server.request(`/projects/${id}`, { method: "DELETE" });
  });

  scenarios(server, [
    {
      fact: "a kept count cannot be written",
      path: "/projects",
      body: { name: "Written", openIssues: 3 },
      status: 422,
      details: [{ field: "openIssues", issue: "read_only" }],
    },
  ]);

  test("a row that counts others is deleted while these change", async () => {
    for (const which of ["project", "milestone"]) {
      const project = `/projects/${(await server.create("/projects", { name: "Busy" })).id}`;
      const milestone = await server.create("/milestones", {});
      const body = { title: "a", milestoneId: milestone.id };
      const ids: string[] = [];
      for (let made = 0; made < 16; made += 1) ids.push((await server.create(`${project}/issues`, body)).id);
      const path = which === "project" ? project : `/milestones/${milestone.id}`;
      let isDeleted = false;
      const answers = new Set<number>();
      const clients = Array.from({ length: 8 }, async (_, client) => {
        for (let turn = client; !isDeleted; turn += 1) {
          const values = { status: turn % 2 ? "open" : "closed", points: turn % 3 ? 5 : 1 };
          answers.add(await status(`/issues/${ids[turn % ids.length]}`, "PATCH", values));
        }
      });
      // Some changes are in progress by then.
      for (let read = 0; read < 20; read += 1) await status(path, "GET");
      const deleted = await status(path, "DELETE");
      isDeleted = true;
      await Promise.all(clients);
      assert.deepEqual([deleted, [...answers].filter((each) => each >= 500)], [204, []]);
      if (which === "milestone") await server.request(project, { method: "DELETE" });
    }
    await requireExact(server);
  });

  test("counts are exact after any writes, of several connections at once", async () => {
    const title = fc.constantFrom("a", "b", "ba", "B");
    const points = fc.constantFrom(null, 4, 5, 6);
    const body = fc.record({
      ...{ title, points, status: fc.constantFrom("open", "closed"), isHidden: fc.boolean() },
      milestone: fc.constantFrom(null, 0, 1, 2),
    });
    const index = fc.nat({ max: 20 });
    const write = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant("create" as const), index, body }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant("update" as const), index, body }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), index }) },
      fc.record({ kind: fc.constant("import" as const), index, bodies: fc.array(body, { maxLength: 6 }) }),
      fc.record({ kind: fc.constant("milestone" as const), index }),
      fc.record({ kind: fc.constant("link" as const), index, to: index }),
      fc.record({ kind: fc.constant("deleteProject" as const), index }),
      fc.record({ kind: fc.constant("restoreProject" as const), index }),
    );
    const pick = (ids: readonly string[], at: number): string => ids[at % ids.length] ?? "none";
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(write, { maxLength: 8 }), { maxLength: 5 }), async (rounds) => {
        const projectIds: string[] = [];
        const milestoneIds: string[] = [];
        for (let made = 0; made < 3; made += 1) {
          projectIds.push((await server.create("/projects", { name: "Random" })).id);
          milestoneIds.push((await server.create("/milestones", {})).id);
        }
        for (const writes of rounds) {
          const ids = ((await all(server, "issues", "id")) as readonly { id: string }[]).map(({ id }) => id);
          const bodyOf = ({ milestone, ...rest }: { milestone: number | null }): object => ({
            ...rest,
            milestoneId: milestone === null ? null : pick(milestoneIds, milestone),
          });
          const run = (each: (typeof writes)[number]): Promise<number> => {
            const project = pick(projectIds, each.index);
            const milestone = pick(milestoneIds, each.index);
            switch (each.kind) {
              case "create":
                return status(`/projects/${project}/issues`, "POST", bodyOf(each.body));
              case "update":
                return status(`/issues/${pick(ids, each.index)}`, "PATCH", bodyOf(each.body));
              case "delete":
                return status(`/issues/${pick(ids, each.index)}`, "DELETE");
              case "deleteProject":
                return status(`/projects/${project}`, "DELETE");
              case "restoreProject":
                return status(`/projects/${project}/restorations`, "POST", {});
              case "milestone":
                return status(`/milestones/${milestone}`, "DELETE");
              case "link":
                return status(`/milestones/${milestone}`, "PATCH", { nextId: pick(milestoneIds, each.to) });
              case "import": {
                const lines = each.bodies.map((line) =>
                  JSON.stringify({ ...bodyOf(line), projectId: project }),
                );
                return server
                  .request("/v1/imports/issues", {
                    ...{ method: "POST", headers: { "content-type": "application/x-ndjson" } },
                    body: lines.join("\n"),
                  })
                  .then((answer) => answer.status);
              }
            }
          };
          for (const answer of await Promise.all(writes.map(run))) assert.ok(answer < 500, String(answer));
          await requireExact(server);
        }
      }),
      { numRuns: randomRuns(10, 3) },
    );
  });
});

onEachDatabase("a kept count of rows that were last updated before some time", (database) => {
  const old = { updatedAt: { lt: "2021-01-01T00:00:00.000Z" } };
  const boards = resource("board", {
    fields: { old: count((): Resource => cards, { where: old, kept: true }) },
  });
  const cards = resource("card", { parent: boards, fields: { title: text({ max: 100 }) } });
  const server = serve(database, { app: app({ name: "Boards", resources: [boards, cards] }) });

  test("follows updates and deletions", async () => {
    const { id } = await server.create("/boards", {});
    const path = `/boards/${id}/cards`;
    const { id: first } = await server.create(path, { title: "a" });
    await server.create(path, { title: "b" });
    const counted = async (): Promise<number> => (await server.request(`/boards/${id}`)).body.old;
    assert.equal(await counted(), 0);
    const column = updatedAtColumn(database);
    await writeDirectly(
      server.workspace.databaseUrl,
      `update cards set ${column} = '2020-01-01T00:00:00.000Z'`,
    );
    assert.equal(await counted(), 2);
    await server.request(`/cards/${first}`, { method: "PATCH", body: { title: "c" } });
    assert.equal(await counted(), 1);
    await server.request(`/cards/${first}`, { method: "DELETE" });
    assert.equal(await counted(), 1);
  });
});
