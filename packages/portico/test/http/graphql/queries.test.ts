// Queries return what is selected, and the same rows as REST.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fillPosts } from "../../support/graphql/fill-posts.ts";
import { dataOf, requestGraphql } from "../../support/graphql/request.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("GraphQL queries", (database) => {
  const server = serve(database, { prepare: fillPosts });
  const titles = (rows: readonly { title: string }[]): string[] => rows.map(({ title }) => title);

  test("posts returns the ten newest rows, as in REST", async () => {
    const { posts } = await dataOf(server, "{ posts { id title body status authorId createdAt updatedAt } }");
    assert.equal(posts.length, 10);
    assert.deepEqual(posts, (await server.request("/posts?limit=10")).body.data);
  });

  for (const [limit, count] of [
    ["3", 3],
    ["0", 10],
    ["-1", 10],
    ["null", 10],
    ["100", 15],
    ["1000000", 15],
  ] as const) {
    test(`posts(limit: ${limit}) returns ${count} rows`, async () => {
      const { posts } = await dataOf(server, `{ posts(limit: ${limit}) { id } }`);
      assert.equal(posts.length, count);
    });
  }

  test("references and lists can be nested", async () => {
    const { body } = await server.request("/users?email=mary@example.com");
    const { user } = await dataOf(
      server,
      `query Mary($id: ID!) { user(id: $id) { name email posts(first: 2) { title comments(first: 2) { body author { name } post { title } } } } }`,
      { variables: { id: body.data[0].id } },
    );
    const by = (title: string) => ({
      title,
      comments: ["third", "second"].map((body) => ({ body, author: { name: "Mary" }, post: { title } })),
    });
    assert.deepEqual(user, {
      name: "Mary",
      email: "mary@example.com",
      posts: [by("Post 12"), by("Post 10")],
    });
  });

  test("a field can be selected twice with aliases and different arguments", async () => {
    const { one, two, kind } = await dataOf(
      server,
      "{ one: posts(limit: 1) { title } two: posts(limit: 2) { t: title again: title } kind: __typename }",
    );
    assert.deepEqual(one, [{ title: "Post 12" }]);
    assert.deepEqual(two[1], { t: "Post 11", again: "Post 11" });
    assert.equal(kind, "Query");
  });

  test("fragments, directives and default values of variables are applied", async () => {
    const query = `query ($n: Int = 1, $isBrief: Boolean!) {
      posts(limit: $n) { ...Named @skip(if: $isBrief) ... on Post @include(if: $isBrief) { kind: __typename } }
    }
    fragment Named on Post { title author { ...Person } }
    fragment Person on User { name }`;
    const brief = await dataOf(server, query, { variables: { isBrief: true } });
    assert.deepEqual(brief, { posts: [{ kind: "Post" }] });
    const long = await dataOf(server, query, { variables: { isBrief: false, n: 2 } });
    assert.deepEqual(titles(long.posts), ["Post 12", "Post 11"]);
    assert.equal(long.posts[0].author.name, "Mary");
  });

  test("members are in the order of the document", async () => {
    const { text } = await requestGraphql(
      server,
      "{ posts(limit: 1) { title author { name } createdAt __typename body } a: __typename }",
    );
    const names = [...text.matchAll(/"(\w+)":/g)].map(([, name]) => name);
    assert.deepEqual(names, [
      "data",
      "posts",
      "title",
      "author",
      "name",
      "createdAt",
      "__typename",
      "body",
      "a",
    ]);
  });

  test("an unknown or invalid id is null, not an error", async () => {
    const data = await dataOf(
      server,
      '{ user(id: "user_00000000000000000000000000") { id } post(id: "x") { id } node(id: "x") { id } other: node(id: "ship_00000000000000000000000000") { id } }',
    );
    assert.deepEqual(data, { user: null, post: null, node: null, other: null });
  });

  test("node finds a row of any type by its id", async () => {
    const [post] = (await server.request("/posts?limit=1")).body.data;
    const query = `query ($id: ID!) { node(id: $id) { __typename id ... on Post { title } ... on User { name } } }`;
    const { node } = await dataOf(server, query, { variables: { id: post.id } });
    assert.deepEqual(node, { __typename: "Post", id: post.id, title: "Post 12" });
    const author = await dataOf(server, query, { variables: { id: post.authorId } });
    assert.deepEqual(author.node, { __typename: "User", id: post.authorId, name: "Mary" });
  });

  test("search returns rows of several types, newest first", async () => {
    const { search } = await dataOf(
      server,
      '{ search(q: "eng") { __typename ... on Post { title } ... on Project { name slug } } }',
    );
    assert.deepEqual(search, [
      { __typename: "Project", name: "Difference Engine", slug: "difference-engine" },
      { __typename: "Post", title: "On the Analytical Engine" },
    ]);
    const { search: two } = await dataOf(server, '{ search(q: "post", limit: 2) { ... on Post { title } } }');
    assert.deepEqual(titles(two), ["Post 12", "Post 11"]);
  });

  test("comments are listed for their post", async () => {
    const [post] = (await server.request("/posts?limit=1")).body.data;
    const { comments } = await dataOf(server, `{ comments(postId: "${post.id}", limit: 2) { body } }`);
    assert.deepEqual(comments, [{ body: "third" }, { body: "second" }]);
  });

  test("introspection and rows can be selected in one operation", async () => {
    const data = await dataOf(server, "{ __schema { queryType { name } } posts(limit: 1) { title } }");
    assert.deepEqual(data, { __schema: { queryType: { name: "Query" } }, posts: [{ title: "Post 12" }] });
  });

  test("an operation can have 600 fields, and names of 200 characters", async () => {
    const many = Array.from({ length: 600 }, (_, index) => `a${index}: title`).join(" ");
    const { posts } = await dataOf(server, `{ posts(limit: 1) { ${many} ${"x".repeat(200)}: id } }`);
    assert.equal(Object.keys(posts[0]).length, 601);
    assert.equal(posts[0].a599, "Post 12");
  });

  test("the cost is returned on request", async () => {
    const nested = "{ posts(limit: 20) { id author { posts(first: 5) { id } } } }";
    const { body } = await requestGraphql(server, nested, { extensions: { cost: true } });
    assert.deepEqual(body.extensions, { cost: 20 * (1 + 1 + 5) });
    assert.equal((await requestGraphql(server, nested)).body.extensions, undefined);
  });
});
