// Which scopes an operation requires, and what a credential of another tenant sees.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fillPosts } from "../../support/graphql/fill-posts.ts";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import { makeTenant, runCommand, serve, type Tenant } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("GraphQL scopes and tenants", (database) => {
  const server = serve(database, { prepare: fillPosts });
  const keyWith = async (scopes: string): Promise<string> =>
    (await runCommand(server.workspace, ["key", "create", "--name", "Narrow", "--scopes", scopes])).key;
  const modern = { accept: "application/graphql-response+json" };

  test("a missing scope of a nested field is an error with its path, before anything runs", async () => {
    const key = await keyWith("posts:read,posts:write");
    const answer = await requestGraphql(
      server,
      'mutation { createPost(input: { title: "Never" }) { title written: author { name } comments { id } } }',
      { key, headers: modern },
    );
    assert.equal(answer.status, 403);
    assert.deepEqual(Object.keys(answer.body), ["errors"]);
    expectError(answer, {
      code: "insufficient_scope",
      message: /^createPost\.written requires the scope users:read, which the credential does not have\.$/,
      path: ["createPost", "written"],
    });
    assert.deepEqual(answer.body.errors[1].path, ["createPost", "comments"]);
    const challenge = 'Bearer error="insufficient_scope", scope="users:read comments:read"';
    assert.equal(answer.headers.get("www-authenticate"), challenge);
    assert.equal((await server.request("/posts?q=never")).body.data.length, 0);
  });

  test("reading the result of a mutation requires no read scope", async () => {
    const key = await keyWith("posts:write");
    const { createPost } = await dataOf(
      server,
      'mutation { createPost(input: { title: "Blind" }) { title } }',
      {
        key,
      },
    );
    assert.equal(createPost.title, "Blind");
    expectError(await requestGraphql(server, "{ posts { id } }", { key }), {
      code: "insufficient_scope",
      path: ["posts"],
    });
  });

  test("a skipped field requires no scope", async () => {
    const key = await keyWith("posts:read");
    const { posts } = await dataOf(server, "{ posts(limit: 1) { author @skip(if: true) { name } } }", {
      key,
    });
    assert.deepEqual(posts, [{}]);
  });

  test("search searches the resources that the credential may read", async () => {
    const key = await keyWith("projects:read");
    const query = '{ search(q: "engine") { __typename ... on Post { title author { name } } } }';
    assert.deepEqual((await dataOf(server, query, { key })).search, [{ __typename: "Project" }]);
    const [posts, nothing] = [await keyWith("posts:read"), await keyWith("deploy:read")];
    expectError(await requestGraphql(server, query, { key: posts }), {
      code: "insufficient_scope",
      path: ["search", "author"],
    });
    expectError(await requestGraphql(server, query, { key: nothing }), {
      code: "insufficient_scope",
      path: ["search"],
    });
  });

  test("introspection requires a credential, but no particular scope", async () => {
    const key = await keyWith("deploy:read");
    assert.equal(
      (await dataOf(server, "{ __schema { queryType { name } } }", { key })).__schema.queryType.name,
      "Query",
    );
    assert.equal((await requestGraphql(server, "{ __typename }", { key: null })).status, 401);
  });

  test("another tenant has no access by id, list, search, node, cursor, reference or mutation", async () => {
    const theirs: Tenant = await makeTenant(server.workspace);
    const as = { key: theirs.key };
    const [post] = (await server.request("/posts?limit=1")).body.data;
    const data = await dataOf(
      server,
      `{ posts { id } users { id } search(q: "post") { __typename } post(id: "${post.id}") { id } node(id: "${post.id}") { id }
         user(id: "${post.authorId}") { id posts { id } } postsConnection { edges { cursor } pageInfo { hasNextPage } } }`,
      as,
    );
    assert.deepEqual(data, {
      posts: [],
      users: [{ id: theirs.userId }],
      search: [],
      post: null,
      node: null,
      user: null,
      postsConnection: { edges: [], pageInfo: { hasNextPage: false } },
    });
    const page = await dataOf(server, "{ page: postsConnection(first: 1) { edges { cursor } } }");
    const [{ cursor }] = page.page.edges;
    expectError(
      await requestGraphql(server, `{ postsConnection(after: "${cursor}") { edges { cursor } } }`, as),
      {
        code: "invalid_cursor",
      },
    );
    expectError(await requestGraphql(server, `{ comments(postId: "${post.id}") { id } }`, as), {
      code: "not_found",
    });
    for (const mutation of [
      `updatePost(id: "${post.id}", input: { title: "Taken" }) { id }`,
      `deletePost(id: "${post.id}") { id }`,
      `createComment(input: { postId: "${post.id}", body: "Taken" }) { id }`,
    ])
      expectError(await requestGraphql(server, `mutation { ${mutation} }`, as), { code: "not_found" });
    expectError(
      await requestGraphql(
        server,
        `mutation { createPost(input: { title: "Taken", authorId: "${post.authorId}" }) { id } }`,
        as,
      ),
      { code: "validation_error", details: [{ field: "authorId", issue: "reference" }] },
    );
    assert.deepEqual((await server.request(`/posts/${post.id}`)).body, post);
  });
});
