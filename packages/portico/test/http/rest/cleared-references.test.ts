// References with `onDelete: "setNull"`: they become null when the row that they refer to is deleted.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  app,
  belongsTo,
  count,
  createServer,
  type Resource,
  resource,
  type Server,
  text,
} from "../../../src/index.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";

/** More than are changed by one statement. */
const many = 120;
let hookRuns = 0;

const teams = resource("team", { fields: { name: text({ max: 50 }) }, softDelete: true });
const reviewers = resource("reviewer", { parent: teams, fields: { name: text({ max: 50 }) } });
const milestones = resource("milestone", {
  fields: {
    name: text({ max: 50 }),
    issues: count(() => issues, { kept: true }),
  },
  softDelete: true,
});
const issues = resource("issue", {
  fields: {
    title: text({ max: 50 }),
    reviewer: belongsTo(() => reviewers, { optional: true, onDelete: "setNull" }),
    milestone: belongsTo(() => milestones, { optional: true, immutable: true, onDelete: "setNull" }),
    original: belongsTo((): Resource => issues, { optional: true, onDelete: "setNull" }),
  },
  filter: ["reviewerId"],
  softDelete: true,
  // Nobody may change these issues: the deletion of what they refer to does.
  policy: { update: () => ({ title: { not: "many" } }) },
  hooks: {
    before: {
      update: () => {
        hookRuns += 1;
      },
    },
  },
});
const declared = app({ name: "Tracker", resources: [teams, reviewers, milestones, issues] });

onEachDatabase("references that become null", (database) => {
  let workspace: Workspace;
  let server: Server;

  // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
  async function request(method: string, path: string, body?: object, status?: number): Promise<any> {
    const response = await server.fetch(path, {
      method,
      headers: { authorization: `Bearer ${server.sandboxKey}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const expected = status ?? { GET: 200, POST: 201, PATCH: 200, DELETE: 204 }[method];
    assert.equal(response.status, expected, `${method} ${path}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }
  const create = (path: string, body: object) => request("POST", path, body);
  const get = (path: string) => request("GET", path);
  const remove = (path: string) => request("DELETE", path);
  const issue = (references: object = {}) => create("/issues", { title: "i", ...references });
  const restore = ({ id }: { readonly id: string }) => request("POST", `/issues/${id}/restorations`);

  before(async () => {
    workspace = await makeWorkspace(database);
    const { databaseUrl } = workspace;
    server = await createServer(declared, { databaseUrl, publicUrl: "http://127.0.0.1:1" });
    await server.start();
  });
  after(async () => {
    await server?.close();
    await workspace?.remove();
  });

  test("all rows that refer to a deleted row are updated, with an event each", async () => {
    const team = await create("/teams", { name: "t" });
    const reviewer = await create(`/teams/${team.id}/reviewers`, { name: "r" });
    const other = await create(`/teams/${team.id}/reviewers`, { name: "o" });
    const kept = await issue({ reviewerId: other.id });
    await server.transaction({}, async (rows) => {
      for (let index = 0; index < many; index += 1)
        await rows.create(issues, { title: "many", reviewerId: reviewer.id });
    });
    await remove(`/reviewers/${reviewer.id}`);
    assert.deepEqual((await get(`/issues?reviewerId=${reviewer.id}`)).data, []);
    assert.deepEqual(await get(`/issues/${kept.id}`), kept);
    const { data: cleared } = await get("/issues?reviewerId[isNull]=true&limit=100");
    assert.equal(cleared.length, 100);
    assert.ok(
      cleared.every((row: { createdAt: string; updatedAt: string }) => row.updatedAt > row.createdAt),
    );
    const types = "type=issue.updated&type=reviewer.deleted";
    const newest = (await get(`/v1/events?${types}&limit=100`)).data;
    assert.deepEqual([newest[0].type, newest[1].type], ["reviewer.deleted", "issue.updated"]);
    assert.ok(
      newest.slice(1).every(({ data }: { data: object }) => "reviewerId" in data && data.reviewerId === null),
    );
    assert.equal(hookRuns, 0);
    // A row that is deleted with its parent is deleted as well.
    await remove(`/teams/${team.id}`);
    assert.equal((await get(`/issues/${kept.id}`)).reviewerId, null);
  });

  test("rows may refer to rows of their own kind, and immutable references become null", async () => {
    const milestone = await create("/milestones", { name: "m" });
    const original = await issue({ milestoneId: milestone.id });
    const copy = await issue({ milestoneId: milestone.id, originalId: original.id });
    assert.equal((await get(`/milestones/${milestone.id}`)).issues, 2);
    await remove(`/issues/${original.id}`);
    assert.equal((await get(`/issues/${copy.id}`)).originalId, null);
    assert.equal((await get(`/milestones/${milestone.id}`)).issues, 1);
    await remove(`/milestones/${milestone.id}`);
    assert.equal((await get(`/issues/${copy.id}`)).milestoneId, null);
    // A restored row is not put back, and a restored row refers to no row that is gone.
    const restored = await request("POST", `/milestones/${milestone.id}/restorations`);
    assert.equal(restored.issues, 0);
    assert.equal((await get(`/issues/${copy.id}`)).milestoneId, null);
    assert.equal((await restore(original)).milestoneId, milestone.id);
    await remove(`/issues/${original.id}`);
    await remove(`/milestones/${milestone.id}`);
    assert.equal((await restore(original)).milestoneId, null);
  });

  test("deletions beside writes that set the reference leave no reference to a deleted row", async () => {
    const team = await create("/teams", { name: "t" });
    for (let round = 0; round < 5; round += 1) {
      const { id } = await create(`/teams/${team.id}/reviewers`, { name: "r" });
      for (let index = 0; index < 3; index += 1) await issue({ reviewerId: id });
      const writing = Array.from({ length: 5 }, async () => {
        const options = {
          method: "POST",
          headers: { authorization: `Bearer ${server.sandboxKey}`, "content-type": "application/json" },
        };
        const response = await server.fetch("/issues", {
          ...options,
          body: JSON.stringify({ title: "late", reviewerId: id }),
        });
        assert.ok([201, 409, 422].includes(response.status), await response.text());
      });
      const deleting = server.fetch(`/reviewers/${id}`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${server.sandboxKey}` },
      });
      await Promise.all(writing);
      const { status } = await deleting;
      assert.ok(status === 204 || status === 409, String(status));
      const referring = (await get(`/issues?reviewerId=${id}`)).data.length;
      assert.equal(referring > 0, status === 409, `${referring} refer to it after ${status}`);
    }
  });
});
