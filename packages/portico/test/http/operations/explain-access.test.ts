// portico explain --as: which scope, role or policy refuses a request or hides a row. Each answer is compared with that of
// the server.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import type { ExplainedAccess } from "../../../src/cli/explained-access.ts";
import { runCommand } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico, portico, type Workspace } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/tracker");

onEachDatabase("portico explain --as", (database) => {
  let workspace: Workspace;
  let server: Portico;
  /** Ada is the owner; Grace is a member of one of two projects. */
  let grace: { readonly id: string };
  let key: { readonly id: string; readonly key: string };
  let ids: Record<"joined" | "other" | "open" | "secret" | "elsewhere" | "draft", string>;

  const create = async (path: string, body: object) => {
    const created = await server.request(path, { body });
    assert.equal(created.status, 201, created.text);
    return created.body;
  };

  before(async () => {
    workspace = await makeWorkspace(database);
    server = await Portico.start(workspace, { cwd });
    grace = await create("/users", { name: "Grace", email: "grace@example.com" });
    const joined = await create("/projects", { name: "Joined" });
    const other = await create("/projects", { name: "Other" });
    await create("/members", { projectId: joined.id, userId: grace.id });
    const open = await create(`/projects/${joined.id}/issues`, { title: "Open" });
    const secret = await create(`/projects/${joined.id}/issues`, { title: "Secret", status: "secret" });
    const elsewhere = await create(`/projects/${other.id}/issues`, { title: "Elsewhere" });
    const draft = await create("/posts", { title: "Draft" });
    ids = {
      ...{ joined: joined.id, other: other.id, open: open.id, secret: secret.id },
      ...{ elsewhere: elsewhere.id, draft: draft.id },
    };
    const scopes = ["projects:read", "projects:write", "issues:read", "issues:write", "posts:read"];
    key = await create("/v1/api-keys", { name: "Hers", ownerId: grace.id, scopes });
  });
  after(async () => {
    await server.stop();
    await workspace.remove();
  });

  const explain = (path: string, who: string, ...words: string[]): Promise<ExplainedAccess> =>
    runCommand(workspace, ["explain", path, "--as", who, ...words], { cwd });

  /** Explains a request of Grace's key, whose answer of the server must be the same. */
  const explained = async (path: string, method = "GET"): Promise<ExplainedAccess> => {
    const access = await explain(path, key.id, "--method", method);
    const body =
      method === "GET" || method === "DELETE" ? {} : { body: method === "POST" ? { title: "New" } : {} };
    const answer = await server.request(path, { key: key.key, method, ...body });
    const expected = answer.status < 400 ? null : [answer.status, answer.body.error.code];
    assert.deepEqual(access.refused && [access.refused.status, access.refused.code], expected, path);
    return access;
  };

  test("a row that is visible, and the policies that allow it", async () => {
    const { as, policies, failing } = await explained(`/issues/${ids.open}`);
    assert.deepEqual([as.kind, as.userId, as.role], ["key", grace.id, "member"]);
    assert.deepEqual(as.scopes, ["issues:read", "issues:write", "projects:read", "projects:write"]);
    assert.equal(failing, null);
    const isMember = `some members { userId = "${grace.id}" }`;
    assert.deepEqual(policies, [
      { resource: "issue", policy: "policy for read", condition: 'status = "open"' },
      { resource: "project", policy: "policy for read", condition: isMember },
    ]);
  });

  test("the condition that a hidden row does not meet, its own or that of its parent", async () => {
    const own = { resource: "issue", policy: "policy for read", condition: 'status = "open"' };
    assert.deepEqual((await explained(`/issues/${ids.secret}`)).failing, own);
    const isMember = `some members { userId = "${grace.id}" }`;
    const parent = { resource: "project", policy: "policy for read", condition: isMember };
    for (const path of [
      `/issues/${ids.elsewhere}`,
      `/projects/${ids.other}`,
      `/projects/${ids.other}/issues`,
    ])
      assert.deepEqual((await explained(path)).failing, parent, path);
    assert.equal((await explained("/issues/issue_00000000000000000000000000")).failing, null);
  });

  test("the scope that a role or a credential lacks", async () => {
    const posts = await explained(`/posts/${ids.draft}`);
    assert.match(
      posts.refused!.message,
      /requires the scope `posts:read`. The role `member` of this user does not/,
    );
    const users = await explained("/users");
    assert.match(users.refused!.message, /requires the scope `users:read`\.$/);
    const ofUser = await explain("/users", "grace@example.com");
    assert.match(ofUser.refused!.message, /The role `member` of this user does not include it/);
    const nested = "{ projects { members { user { email } } } }";
    const graphql = await explain(nested, grace.id, "--graphql");
    assert.match(
      graphql.refused!.message,
      /requires the scope users:read, which the role member of this user/,
    );
  });

  test("the policy that refuses a write", async () => {
    const refused = await explained(`/projects/${ids.joined}`, "PATCH");
    const write = { resource: "project", policy: "policy for write", condition: `ownerId = "${grace.id}"` };
    assert.deepEqual(refused.failing, write);
    // Issues have a policy of their own for updates; deletions need the update of the project.
    assert.equal((await explained(`/issues/${ids.open}`, "PATCH")).failing, null);
    assert.deepEqual((await explained(`/issues/${ids.open}`, "DELETE")).failing, write);
    assert.equal((await explained(`/issues/${ids.secret}`, "DELETE")).refused?.status, 404);
    assert.equal((await explained(`/projects/${ids.other}/issues`, "POST")).refused?.status, 404);
    assert.equal((await explained("/posts", "POST")).refused?.code, "insufficient_scope");
  });

  test("a list shows the policies of nested rows too, and the statements of that caller", async () => {
    const { policies, statements } = (await explain(
      "{ projects { name issues { title } } }",
      grace.id,
      "--graphql",
    )) as ExplainedAccess & { statements: { sql: string }[] };
    assert.deepEqual(
      policies.map(({ resource }) => resource),
      ["project", "issue"],
    );
    assert.match(statements[0]!.sql, /"status" = /);
  });

  test("a policy that throws", async () => {
    const [owner] = (await server.request("/users?email=ada@example.com")).body.data;
    process.env.TEST_THROWS_FOR = String(owner.id);
    for (const words of [
      ["/alarms"],
      ["/alarms/alarm_00000000000000000000000000", "--method", "PATCH"],
      ["{ alarms { id } }", "--graphql"],
    ]) {
      const [path = "", ...options] = words;
      const { stderr } = await portico(workspace, ["explain", path, "--as", owner.id, ...options], { cwd });
      assert.equal(stderr, "portico: resource alarm: its policy throws: Error: no such user\n", path);
    }
  });

  test("anonymous callers", async () => {
    const { as, failing, refused } = await explain(`/posts/${ids.draft}`, "anonymous");
    assert.deepEqual([as.kind, as.scopes, refused?.status], ["anonymous", [], 404]);
    assert.equal(failing!.condition, 'status = "published"');
    assert.equal((await explain("/posts", "anonymous")).refused?.code, "authentication_required");
  });

  test("prints the answer and the reason in lines", async () => {
    const { stdout } = await portico(workspace, ["explain", `/projects/${ids.other}`, "--as", grace.id], {
      cwd,
    });
    const isMember = `some members { userId = "${grace.id}" }`;
    assert.deepEqual(stdout.split("\n").slice(1, 5), [
      "Refused: 404 not_found. There is no project with this id.",
      `The row does not meet the policy for read of project: ${isMember}`,
      "Policies:",
      `  project, policy for read: ${isMember}`,
    ]);
  });

  test("routes: who may call them", async () => {
    assert.equal((await explained("/v1/stats?year=2026")).refused?.code, "insufficient_scope");
    assert.equal((await explained(`/projects/${ids.joined}/closings`, "DELETE")).refused, null);
    assert.equal((await explained("/version")).refused, null);
    assert.equal((await explain("/version", "anonymous")).refused, null);
    assert.equal((await explain("/stats", "anonymous")).refused?.code, "authentication_required");
    const { stdout } = await portico(workspace, ["explain", "/v1/stats"], { cwd });
    const line = "GET /v1/stats is a route, whose code decides what it reads and writes.";
    assert.equal(stdout, `${line} It needs the scope stats:read.\n`);
  });

  test("who cannot send requests, and what cannot be explained", async () => {
    const failures: readonly (readonly [words: string[], line: RegExp])[] = [
      [["/projects", "--as", "nobody@example.com"], /the tenant has no active user nobody@example\.com/],
      [["/projects", "--as", "user_00000000000000000000000000"], /the tenant has no active user user_0/],
      [
        ["/projects", "--as", "api_key_00000000000000000000000000"],
        /the tenant has no valid secret key api_key_0.*--as anonymous/,
      ],
      [["/projects", "--method", "PATCH"], /--method needs --as/],
      [["/projects", "--method", "PATCH", "--as", grace.id], /the API has no PATCH of a row at \/projects/],
      [["/projects?x=1", "--as", grace.id], /`x`/],
    ];
    for (const [words, line] of failures) {
      const { code, stderr } = await portico(workspace, ["explain", ...words], { cwd });
      assert.equal(code, 1, words.join(" "));
      assert.match(stderr, line);
    }
  });
});
