// Connections: cursors, filters and sorts of pages, and errors in their arguments.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fillPosts } from "../../support/graphql/fill-posts.ts";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("GraphQL connections", (database) => {
  const server = serve(database, { prepare: fillPosts });
  const page = async (args: string, selection = "edges { cursor node { id } } pageInfo { ...All }") => {
    const fragment = "fragment All on PageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
    const definition = selection.includes("...All") ? fragment : "";
    const data = await dataOf(server, `{ page: postsConnection(${args}) { ${selection} } } ${definition}`);
    return data.page;
  };
  type Edges = readonly { cursor: string; node: { id: string } }[];
  const ids = (edges: Edges): string[] => edges.map(({ node }) => node.id);
  const allIds = async (query = ""): Promise<string[]> =>
    (await server.request(`/posts?limit=100&fields=id${query}`)).body.data.map(
      ({ id }: { id: string }) => id,
    );

  for (const [sort, query] of [
    ["CREATED_AT_DESC", ""],
    ["TITLE_ASC", "&sort=title"],
  ] as const) {
    test(`paging forward by ${sort} returns every row once, in the order of REST`, async () => {
      const walked: string[] = [];
      let after = "";
      for (;;) {
        const { edges, pageInfo } = await page(`first: 4, sort: ${sort}${after}`);
        walked.push(...ids(edges));
        assert.equal(pageInfo.hasPreviousPage, after !== "");
        assert.equal(pageInfo.endCursor, edges.at(-1).cursor);
        if (!pageInfo.hasNextPage) break;
        after = `, after: "${pageInfo.endCursor}"`;
      }
      assert.deepEqual(walked, await allIds(query));
    });

    test(`paging backward by ${sort} returns the same rows in the same order`, async () => {
      let walked: string[] = [];
      let before = "";
      for (;;) {
        const { edges, pageInfo } = await page(`last: 4, sort: ${sort}${before}`);
        walked = [...ids(edges), ...walked];
        assert.equal(pageInfo.hasNextPage, before !== "");
        assert.equal(pageInfo.startCursor, edges[0].cursor);
        if (!pageInfo.hasPreviousPage) break;
        before = `, before: "${pageInfo.startCursor}"`;
      }
      assert.deepEqual(walked, await allIds(query));
    });
  }

  test("cursors are interchangeable with those of REST", async () => {
    const { pagination } = (await server.request("/posts?limit=3&status=published")).body;
    const filter = "filter: { status: published }";
    const { edges } = await page(`first: 3, ${filter}, after: "${pagination.nextCursor}"`);
    const all = await allIds("&status=published");
    assert.deepEqual(ids(edges), all.slice(3, 6));
    const rest = await server.request(`/posts?limit=3&status=published&cursor=${edges[2].cursor}`);
    assert.deepEqual(
      rest.body.data.map(({ id }: { id: string }) => id),
      all.slice(6, 9),
    );
  });

  test("cursors of /posts/{id}/comments are valid for the comments of a post", async () => {
    const [post] = (await server.request("/posts?limit=1")).body.data;
    const { body } = await server.request(`/posts/${post.id}/comments?limit=1`);
    const data = await dataOf(
      server,
      `{ page: commentsConnection(postId: "${post.id}", first: 1, after: "${body.pagination.nextCursor}") { edges { node { body } } } }`,
    );
    assert.deepEqual(data.page.edges, [{ node: { body: "second" } }]);
  });

  test("a filter matches any of its values, and several filters are combined with AND", async () => {
    const { edges } = await page("first: 100, filter: { status: [draft, archived] }");
    assert.deepEqual(ids(edges), await allIds("&status=draft&status=archived"));
    const data = await dataOf(
      server,
      '{ page: deploymentsConnection(filter: { createdAtGte: "2020-01-01T00:00:00Z", createdAtLt: "2999-01-01T00:00:00+02:00" }) { edges { node { ref } } } }',
    );
    assert.deepEqual(data.page.edges, [{ node: { ref: "main" } }]);
    assert.deepEqual((await page("filter: { status: [] }")).edges, []);
  });

  test("an empty page has no cursors", async () => {
    const { edges, pageInfo } = await page("filter: { status: archived }");
    assert.deepEqual(edges, []);
    assert.deepEqual(pageInfo, {
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: null,
      endCursor: null,
    });
  });

  test("pageInfo can be selected without edges, and node twice with aliases", async () => {
    assert.deepEqual(await page("first: 1", "pageInfo { hasNextPage }"), { pageInfo: { hasNextPage: true } });
    const { edges } = await page("first: 1", "edges { a: node { title } b: node { status } __typename }");
    assert.deepEqual(edges, [
      { a: { title: "Post 12" }, b: { status: "published" }, __typename: "PostEdge" },
    ]);
  });

  for (const [fact, args, code] of [
    ["a cursor of another sort", 'sort: TITLE_ASC, after: "CURSOR"', "invalid_cursor"],
    ["a cursor of another filter", 'filter: { status: draft }, after: "CURSOR"', "invalid_cursor"],
    ["a broken cursor", 'before: "x"', "invalid_cursor"],
    ["first and last together", "first: 1, last: 1", "validation_error"],
    ["after and before together", 'after: "x", before: "y"', "validation_error"],
    [
      "a filter with 51 values",
      `filter: { authorId: [${Array.from({ length: 51 }, (_, index) => `"${index}"`)}] }`,
      "validation_error",
    ],
  ] as const) {
    test(`${fact} is an error with the path of the field`, async () => {
      const { pageInfo } = await page("first: 1");
      const query = `{ page: postsConnection(${args.replace("CURSOR", pageInfo.endCursor)}) { edges { cursor } } }`;
      const answer = await requestGraphql(server, query);
      assert.equal(answer.body.data, null);
      expectError(answer, { code, path: ["page"] });
    });
  }
});
