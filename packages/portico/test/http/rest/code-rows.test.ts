// What hooks and actions do with rows by conditions.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Rows } from "../../../src/declare/rows.ts";
import {
  app,
  belongsTo,
  choice,
  createServer,
  integer,
  resource,
  type Server,
  text,
  users,
} from "../../../src/index.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";
import { doors, seen } from "./doors.ts";

const projects = resource("project", { fields: { name: text({ max: 50 }) } });
const issues = resource("issue", {
  parent: projects,
  fields: {
    title: text({ max: 50 }),
    status: choice(["open", "closed"], { default: "open" }),
    rank: integer({ default: 0 }),
    owner: belongsTo(() => users, { optional: true }),
  },
  filter: ["status"],
  nestedUnder: ["tenant"],
  policy: ({ caller }) => caller.role === "owner" || { OR: [{ ownerId: caller.userId }, { rank: 7 }] },
  hooks: {
    before: {
      update: ({ title }, { current }) => {
        if (title === "refused" && current.rank === 2) throw new Error("planned");
        return undefined;
      },
    },
    after: {
      delete: async (row, { rows }) => void (await rows.create(traces, { line: `deleted ${row.title}` })),
    },
  },
});
const traces = resource("trace", { fields: { line: text({ max: 100 }) } });

type Work = (rows: Rows, parentId: string) => Promise<unknown>;
/** What the action runs next, and what it returned or threw. */
let work: Work = async () => undefined;
let outcome: { result?: unknown; error?: unknown } = {};
const runs = resource("run", {
  fields: { projectId: text({ max: 50 }) },
  actions: {
    works: {
      input: {},
      run: async ({ current, rows }) => {
        try {
          outcome = { result: await work(rows, current.projectId) };
        } catch (error) {
          outcome = { error };
          throw error;
        }
        return current;
      },
    },
  },
});
const declared = app({ name: "Tracker", resources: [projects, issues, doors, traces, runs] });

onEachDatabase("rows of hooks and actions by conditions", (database) => {
  let workspace: Workspace;
  let server: Server;
  let memberKey: string;

  async function request(
    path: string,
    body?: object,
    key = server.sandboxKey,
    method = body ? "POST" : "GET",
    // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
  ): Promise<any> {
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return response.status === 204 ? undefined : response.json();
  }
  /** A project with issues of the ranks 0 to 4, of which the member owns those with an even rank. */
  async function plant(ownerId: string | null = null): Promise<string> {
    const { id } = await request("/projects", { name: "p" });
    for (let rank = 0; rank < 5; rank += 1)
      await request(`/projects/${id}/issues`, {
        ...{ title: `issue ${rank}`, rank },
        ownerId: rank % 2 === 0 ? ownerId : null,
      });
    return id;
  }
  async function run<T>(projectId: string, next: (rows: Rows) => Promise<T>, key?: string): Promise<T> {
    const { id } = await request("/runs", { projectId }, key);
    work = next;
    const answer = await request(`/runs/${id}/works`, {}, key);
    if ("error" in outcome) throw Object.assign(outcome.error as Error, { answer });
    return outcome.result as T;
  }
  let memberId: string;
  before(async () => {
    workspace = await makeWorkspace(database);
    const { databaseUrl } = workspace;
    server = await createServer(declared, { databaseUrl, port: 0, log: { write: () => {} } });
    await server.listen();
    ({ id: memberId } = await request("/users", { name: "m", email: "m@example.com", role: "member" }));
    const scopes = ["runs:read", "runs:write", "issues:read", "issues:write"];
    ({ key: memberKey } = await request("/v1/api-keys", { name: "m", scopes, ownerId: memberId }));
  });
  after(async () => {
    await server?.close();
    await workspace?.remove();
  });

  test("rows are listed, counted and found, in any order, and page by page", async () => {
    const projectId = await plant();
    const ofProject = { projectId };
    await run(projectId, async (rows) => {
      const ranks = (found: readonly { readonly rank: number }[]) => found.map(({ rank }) => rank);
      assert.deepEqual(
        ranks(await rows.list(issues, { ...ofProject, rank: { gte: 2 } }, { sort: "rank" })),
        [2, 3, 4],
      );
      const sorted = await rows.list(issues, ofProject, { sort: ["status", "-rank"], limit: 2 });
      assert.deepEqual(ranks(sorted), [4, 3]);
      assert.equal(await rows.count(issues, ofProject), 5);
      assert.equal(await rows.count(issues, { ...ofProject, OR: [{ rank: 1 }, { title: "issue 3" }] }), 2);
      assert.equal(await rows.count(issues, { project: { id: projectId }, rank: { not: 0 } }), 4);
      assert.equal((await rows.first(issues, ofProject, { sort: "-rank" }))?.rank, 4);
      assert.equal(await rows.first(issues, { ...ofProject, rank: 9 }), undefined);
      assert.equal(await rows.count(projects, { id: projectId, issues: { some: { rank: 4 } } }), 1);
      const walked: number[] = [];
      let last: string | undefined;
      for (;;) {
        const page = await rows.list(issues, ofProject, {
          ...{ sort: "rank", limit: 2 },
          ...(last !== undefined && { after: last }),
        });
        walked.push(...page.map(({ rank }) => rank));
        last = page.at(-1)?.id;
        if (page.length < 2) break;
      }
      assert.deepEqual(walked, [0, 1, 2, 3, 4]);
      // They see what the transaction has written.
      const [first] = await rows.list(issues, { ...ofProject, rank: 0 });
      await rows.update(issues, first!.id, { rank: 100 });
      // A field whose new value is undefined is left as it is.
      await rows.update(issues, first!.id, { rank: undefined } as never);
      assert.equal((await rows.first(issues, { rank: 100, projectId }))?.id, first!.id);
    });
  });

  test("many rows are written with their hooks and events, or none", async () => {
    const projectId = await plant();
    const even = { projectId, rank: [0, 2, 4] };
    await run(projectId, async (rows) => {
      assert.deepEqual(await rows.updateMany(issues, even, { status: "closed" }), { count: 3 });
      assert.deepEqual(await rows.updateMany(issues, { projectId, status: "open" }, { rank: 50 }), {
        count: 2,
      });
      assert.deepEqual(await rows.updateMany(issues, { projectId, rank: 1 }, { rank: 51 }), { count: 0 });
      await assert.rejects(rows.updateMany(issues, { projectId }, { title: "refused" }), /planned/);
      assert.equal(await rows.count(issues, { projectId, title: "refused" }), 0);
      assert.deepEqual(await rows.deleteMany(issues, { projectId, status: "closed" }), { count: 3 });
      assert.equal(await rows.count(issues, { projectId }), 2);
    });
    const { data: events } = await request("/v1/events?type=issue.updated&type=issue.deleted&limit=100");
    const types = events
      .filter(({ data }: { data: { projectId: string } }) => data.projectId === projectId)
      .map(({ type }: { type: string }) => type);
    assert.deepEqual([types.filter((type: string) => type === "issue.updated").length, types.length], [5, 8]);
    const { data: lines } = await request("/traces?limit=100");
    assert.ok(lines.some(({ line }: { line: string }) => line === "deleted issue 4"));
  });

  test("an action sees and writes what the policies of its caller allow, unless it says otherwise", async () => {
    const projectId = await plant(memberId);
    await run(
      projectId,
      async (rows) => {
        assert.equal(await rows.count(issues, { projectId }), 3);
        assert.equal(await rows.unrestricted.count(issues, { projectId }), 5);
        assert.equal(await rows.count(projects, { id: projectId, issues: { some: { rank: 1 } } }), 0);
        assert.equal(
          await rows.unrestricted.count(projects, { id: projectId, issues: { some: { rank: 1 } } }),
          1,
        );
        assert.deepEqual(await rows.updateMany(issues, { projectId }, { status: "closed" }), { count: 3 });
        assert.deepEqual(await rows.deleteMany(issues, { projectId, rank: { lt: 3 } }), { count: 2 });
        await assert.rejects(rows.updateMany(issues, { projectId }, { ownerId: null }), {
          code: "forbidden",
        });
        assert.equal(await rows.unrestricted.count(issues, { projectId, status: "open" }), 2);
      },
      memberKey,
    );
  });

  test("a condition that is wrong is an error that says what to do", async () => {
    const projectId = await plant();
    const wrong: [(rows: Rows) => Promise<unknown>, RegExp][] = [
      ...(
        [
          [
            { titel: "x" },
            /^rows\.list: resource issue, field titel: the condition names it, but there is no such/,
          ],
          [{ title: undefined }, /field title: the condition has undefined where a value belongs; leave/],
          [{ title: ["x", undefined] }, /field title: the condition has undefined/],
          [{ NOT: { rank: { gt: undefined } } }, /field rank: the condition has undefined/],
          [{ OR: undefined }, /field OR: the condition has undefined/],
          [{ project: undefined }, /field project: the condition has undefined/],
          [{ rank: "x" }, /field rank: the condition compares it with a value that is not a whole number/],
          [[], /the condition has a list where a condition belongs/],
        ] as [never, RegExp][]
      ).map(([where, message]): [(rows: Rows) => Promise<unknown>, RegExp] => [
        (rows) => rows.list(issues, where),
        message,
      ]),
      ...(
        [
          [{ sort: "nope" }, /^rows\.list of issue has a sort by nope; use the name of a field/],
          [{ sort: ["rank", "-rank"] }, /has rank twice in its sort/],
          [{ limit: 0 }, /has a limit that is not a whole number from 1 to 1000/],
          [{ limit: 1_001 }, /has a limit/],
          [{ after: "issue_none" }, /has an after that is not the id of a row/],
          [{ take: 3 }, /has the unknown option take; use sort, limit or after/],
        ] as [never, RegExp][]
      ).map(([options, message]): [(rows: Rows) => Promise<unknown>, RegExp] => [
        (rows) => rows.list(issues, { projectId }, options),
        message,
      ]),
      [(rows) => rows.updateMany(issues, undefined as never, { rank: 1 }), /^rows\.updateMany: .* undefined/],
      [(rows) => rows.deleteMany(issues, { title: undefined }), /^rows\.deleteMany: .* undefined/],
    ];
    for (const [next, message] of wrong) {
      // biome-ignore lint/suspicious/noExplicitAny: an error with the answer of the request.
      const failure: any = await run(projectId, next).catch((error) => error);
      assert.match(String(failure.message), message);
      assert.equal(failure.answer.error.code, "internal_error");
      assert.match(failure.answer.error.message, /This explanation appears only in the sandbox/);
    }
    assert.equal(await run(projectId, (rows) => rows.count(issues, { projectId, title: null })), 0);
  });

  test("code sees internal fields, which are in no answer and no event", async () => {
    seen.length = 0;
    const { id, ...created } = await request("/doors", { name: "a" });
    const changed = await request(`/doors/${id}`, { name: "b" }, undefined, "PATCH");
    const turned = await request(`/doors/${id}/turns`, {});
    await request(`/doors/${id}`, undefined, undefined, "DELETE");
    const { data: events } = await request(
      "/v1/events?type=door.created&type=door.updated&type=door.deleted",
    );
    assert.equal(events.length, 3);
    for (const answer of [created, changed, turned, ...events])
      assert.doesNotMatch(JSON.stringify(answer), /code/);
    assert.deepEqual(seen, [
      ["created", "code of a"],
      ["update", "code of a", false],
      ["updated", "code of b", "code of a"],
      ["action", "code of b", "code of b", "code of b"],
      ["deleted", "code of b"],
    ]);
  });

  // Counting does not depend on the database, and so many rows take long.
  if (database === "sqlite")
    test("a list without a limit is complete, or an error", async () => {
      const { id: projectId } = await request("/projects", { name: "many" });
      await run(projectId, async (rows) => {
        for (let number = 0; number < 1_000; number += 1) await rows.create(traces, { line: "x" });
        const all = await rows.list(traces, { line: "x" });
        assert.equal(new Set(all.map(({ id }) => id)).size, 1_000);
        await rows.create(traces, { line: "x" });
        assert.equal((await rows.list(traces, { line: "x" }, { limit: 1_000 })).length, 1_000);
        await assert.rejects(rows.list(traces, { line: "x" }), /finds more than 1000 rows; add a limit/);
      });
    });
});
