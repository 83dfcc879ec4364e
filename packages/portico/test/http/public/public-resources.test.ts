// Public resources: what callers without a secret credential read, and that they can do nothing else.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { expectError, requestGraphql } from "../../support/graphql/request.ts";
import { type Expected, expectAnswer, makeTenant, runCommand } from "../../support/scenario.ts";
import { type Answer, makeWorkspace, onEachDatabase, Portico, type Workspace } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/magazine");

/** Everything that responses to anonymous callers must not contain. */
const secrets = /draft|secret|example\.com/;

onEachDatabase("public resources", (database) => {
  let workspace: Workspace;
  let server: Portico;
  let publishable: string;
  const ids: Record<"section" | "published" | "draft" | "review" | "note", string> = {
    ...{ section: "", published: "", draft: "", review: "", note: "" },
  };

  const create = async (path: string, body: object): Promise<string> => {
    const created = await server.request(path, { body });
    assert.equal(created.status, 201, created.text);
    return created.body.id;
  };

  before(async () => {
    workspace = await makeWorkspace(database);
    server = await Portico.start(workspace, { cwd });
    ids.section = await create("/sections", { name: "World" });
    const sectionId = ids.section;
    ids.published = await create("/articles", { title: "Read me", status: "published", sectionId });
    ids.draft = await create("/articles", { title: "A draft", sectionId });
    ids.review = await create(`/articles/${ids.published}/reviews`, { line: "Good" });
    await create(`/articles/${ids.draft}/reviews`, { line: "Of a draft" });
    ids.note = await create("/notes", { line: "secret", articleId: ids.published });
    const made = { name: "Page", type: "publishable", scopes: [] };
    publishable = (await server.request("/v1/api-keys", { body: made })).body.key;
  });
  after(async () => {
    await server.stop();
    await workspace.remove();
  });

  /** Sends a request without a credential and one with a publishable key: both read the same. */
  const anonymously = async (
    path: string,
    options: { readonly method?: string; readonly body?: unknown } = {},
  ): Promise<readonly [none: Answer, publishable: Answer]> => {
    const answers = [
      await server.request(path, { ...options, key: null }),
      await server.request(path, { ...options, key: publishable }),
    ] as const;
    for (const { text } of answers) assert.doesNotMatch(text, secrets, path);
    return answers;
  };
  const read = async (path: string, expected: Partial<Expected> = {}): Promise<Answer> => {
    const answers = await anonymously(path);
    for (const answer of answers) expectAnswer(answer, { status: 200, ...expected });
    return answers[0];
  };
  const refused = async (
    path: string,
    options: { readonly method?: string; readonly body?: unknown } = {},
  ) => {
    const [none, withKey] = await anonymously(path, options);
    const challenge = { "www-authenticate": /^Bearer/ };
    expectAnswer(none, { status: 401, code: "authentication_required", headers: challenge });
    expectAnswer(withKey, { status: 403, code: "insufficient_scope" });
  };

  test("anonymous callers list and get what the policy shows them", async () => {
    for (const prefix of ["", "/v1"]) {
      const { body } = await read(`${prefix}/articles`);
      assert.deepEqual(
        body.data.map(({ id }: { id: string }) => id),
        [ids.published],
      );
      await read(`${prefix}/articles/${ids.published}`, { body: { title: "Read me" } });
    }
    for (const query of [
      "q=read",
      "status=published",
      `sectionId=${ids.section}`,
      "sort=-title",
      "section.name=World",
    ]) {
      const { body } = await read(`/articles?${query}`);
      assert.equal(body.data.length, 1, query);
    }
    for (const query of ["q=draft", "status=draft", "section.name=Home"])
      assert.deepEqual((await server.request(`/articles?${query}`, { key: null })).body.data, [], query);
    await read(`/articles/${ids.published}/reviews`, { body: { data: [{ id: ids.review }] } });
    await read(`/sections/${ids.section}`, { body: { name: "World" } });
  });

  test("a hidden row is not found, and neither is what is nested in it", async () => {
    await read(`/articles/${ids.draft}`, { status: 404, code: "not_found" });
    await read(`/articles/${ids.draft}/reviews`, { status: 404, code: "not_found" });
  });

  test("everything else needs a secret credential", async () => {
    const article = `/articles/${ids.published}`;
    for (const path of [
      ...["/sections", `/reviews/${ids.review}`, "/notes", `/notes/${ids.note}`, `${article}/notes`],
      ...["/users", "/v1/api-keys", "/v1/oauth-clients"],
    ])
      await refused(path);
    // Of a related resource that is not public, not even a filter may reveal anything.
    await refused("/articles?author.name=Ada");
    await refused("/articles", { body: { title: "Mine" } });
    await refused(article, { method: "PATCH", body: { title: "Changed" } });
    await refused(article, { method: "PUT", body: { title: "Changed" } });
    await refused(article, { method: "DELETE" });
    await refused(`${article}/reviews`, { body: { line: "Mine" } });
    await refused(`${article}/notes`, { method: "DELETE" });
    expectAnswer(await server.request(article), { status: 200, body: { title: "Read me" } });
  });

  test("an invalid credential is refused, not treated as none", async () => {
    const invalid = "sk_test_0000000000000000000000000000000000000000000";
    for (const headers of [
      { authorization: `Bearer ${invalid}` },
      { authorization: "" },
      { authorization: "Basic YTpi" },
      { "x-api-key": "" },
      { "x-api-key": `${publishable.slice(0, -1)}` },
      { authorization: "Bearer x.y.z" },
    ] as Record<string, string>[])
      for (const path of ["/articles", `/articles/${ids.published}`, "/v1/me"])
        expectAnswer(await server.request(path, { key: null, headers }), {
          status: 401,
          code: "invalid_credential",
        });
    const live = { authorization: "Bearer pk_live_0000000000000000000000000000000000000000000" };
    expectAnswer(await server.request("/articles", { key: null, headers: live }), {
      status: 401,
      code: "wrong_environment",
    });
  });

  test("a secret key still needs the scope", async () => {
    const { key } = await runCommand(
      workspace,
      ["key", "create", "--name", "Few", "--scopes", "notes:read"],
      { cwd },
    );
    expectAnswer(await server.request("/articles", { key }), { status: 403, code: "insufficient_scope" });
    const all = await server.request("/articles");
    assert.equal(all.body.data.length, 2);
  });

  test("a publishable key reads its own tenant, and a request without one the first", async () => {
    const other = await makeTenant(workspace, "articles:read,articles:write,keys:read,keys:manage", { cwd });
    const article = await server.request("/articles", {
      key: other.key,
      body: { title: "Elsewhere", status: "published" },
    });
    const words = [
      "--name",
      "Page",
      "--type",
      "publishable",
      "--scopes",
      "articles:read",
      "--tenant",
      other.id,
    ];
    const { key } = await runCommand(workspace, ["key", "create", ...words], { cwd });
    const { data } = (await server.request("/articles", { key })).body;
    assert.deepEqual([data.length, data[0].id], [1, article.body.id]);
    expectAnswer(await server.request(`/articles/${ids.published}`, { key }), { status: 404 });
    await read(`/articles/${article.body.id}`, { status: 404 });
    // A cursor is bound to the tenant.
    await create("/articles", { title: "Another", status: "published" });
    const { nextCursor } = (await server.request("/articles?limit=1", { key: null })).body.pagination;
    const path = `/articles?limit=1&cursor=${nextCursor}`;
    expectAnswer(await server.request(path, { key: null }), { status: 200 });
    expectAnswer(await server.request(path, { key }), { status: 400, code: "invalid_cursor" });
  });

  test("no cache shares a response among callers", async () => {
    for (const key of [null, publishable, server.key])
      for (const path of ["/articles", `/articles/${ids.published}`, `/articles/${ids.draft}`, "/v1/me"]) {
        const { headers } = await server.request(path, { key });
        assert.equal(headers.get("vary"), "Authorization, X-API-Key", path);
        assert.equal(headers.get("cache-control"), "private, no-cache", path);
      }
    const { headers } = await server.request(`/articles/${ids.published}`, { key: null });
    const unchanged = { "if-none-match": headers.get("etag")! };
    const again = await server.request(`/articles/${ids.published}`, { key: null, headers: unchanged });
    assert.deepEqual([again.status, again.headers.get("cache-control")], [304, "private, no-cache"]);
  });

  test("anonymous callers see who they are", async () => {
    const none = { kind: "anonymous", user: null, scopes: [] };
    await read("/v1/me", { body: none });
    await refusedMe({ name: "Mallory" });
    for (const key of [null, publishable]) {
      const { body } = await requestGraphql(server, "{ me { kind user { id } scopes } }", { key });
      assert.deepEqual(body.data.me, none);
    }
  });
  const refusedMe = async (body: object): Promise<void> => {
    const [anonymous, withKey] = await anonymously("/v1/me", { method: "PATCH", body });
    expectAnswer(anonymous, { status: 401, code: "authentication_required" });
    expectAnswer(withKey, { status: 403, code: "forbidden" });
  };

  test("GraphQL reads the same rows, nested ones where their resource is public too", async () => {
    const query = `{ articles { title section { name } reviews { line } } search(q: "read") { __typename }
      node(id: "${ids.published}") { id } articlesConnection { edges { node { title } } } review: __typename }`;
    for (const key of [null, publishable]) {
      const { status, body, text } = await requestGraphql(server, query, { key });
      assert.equal(status, 200, text);
      assert.equal(body.errors, undefined, text);
      assert.doesNotMatch(text, secrets);
      const readMe = body.data.articles.find(({ title }: { title: string }) => title === "Read me");
      assert.deepEqual(readMe, { title: "Read me", section: { name: "World" }, reviews: [{ line: "Good" }] });
      assert.deepEqual(body.data.search, [{ __typename: "Article" }]);
      assert.deepEqual(body.data.node, { id: ids.published });
    }
  });

  test("GraphQL refuses everything that is not public", async () => {
    for (const query of [
      "{ articles { author { name } } }",
      "{ articles { notes { line } } }",
      "{ sections { name } }",
      "{ notes { line } }",
      "{ users(limit: 1) { email } }",
      `{ node(id: "${ids.note}") { id } }`,
      `{ review(id: "${ids.review}") { line } }`,
      'mutation { createArticle(input: { title: "Mine" }) { id } }',
      `mutation { deleteArticle(id: "${ids.published}") { id } }`,
      "{ __schema { types { name } } }",
      '{ articles { id } __type(name: "Note") { name } }',
    ]) {
      const none = await requestGraphql(server, query, { key: null });
      const withKey = await requestGraphql(server, query, { key: publishable });
      expectError(none, { code: "authentication_required" });
      assert.equal(none.status, 401, query);
      expectError(withKey, { code: "insufficient_scope" });
      for (const { text } of [none, withKey]) {
        assert.doesNotMatch(text, /"data":\{/, query);
        assert.doesNotMatch(text, secrets, query);
      }
    }
    // A filter is checked when its field runs.
    const filtered = '{ articlesConnection(filter: { author: { name: "Ada" } }) { edges { node { id } } } }';
    expectError(await requestGraphql(server, filtered, { key: null }), { code: "authentication_required" });
    expectError(await requestGraphql(server, filtered, { key: publishable }), { code: "insufficient_scope" });
  });

  test("GraphQL suggests no names of the schema to anonymous callers", async () => {
    for (const query of [
      "{ note(id: 5) { lien } }",
      "{ articlesConnection(filter: { statos: draft }) { edges { node { id } } } }",
      "{ articlesConnection(filter: { status: publish }) { edges { node { id } } } }",
    ]) {
      assert.match((await requestGraphql(server, query)).text, /Did you mean/);
      for (const key of [null, publishable])
        assert.doesNotMatch((await requestGraphql(server, query, { key })).text, /Did you mean/);
    }
  });

  test("subscriptions and streams need a secret credential", async () => {
    const headers = { accept: "text/event-stream" };
    for (const query of ["subscription { articleCreated { id } }", "{ articles { id } }"]) {
      const none = await requestGraphql(server, query, { key: null, headers });
      expectError(none, { code: "authentication_required" });
      assert.equal(none.status, 401);
      expectError(await requestGraphql(server, query, { key: publishable, headers }), {
        code: "insufficient_scope",
      });
    }
  });
});
