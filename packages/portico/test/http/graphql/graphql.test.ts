// The operations of the GraphQL door: what is asked for is answered, and as REST would.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import { makeTenant, runCommand, type Served, serve, type Tenant } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("GraphQL", (database) => {
  const served = serve(database, { prepare: fill });
  describe("queries", () => queries(served));
  describe("connections", () => connections(served));
  describe("mutations", () => mutations(served));
  describe("scopes and tenants", () => scopesAndTenants(served));
});

/** Posts with comments by two people, beside those of the first start. */
async function fill(served: Served): Promise<void> {
  const mary = await served.create("/users", { name: "Mary", email: "mary@example.com" });
  for (let number = 1; number <= 12; number += 1) {
    const by = number % 2 === 0 ? { authorId: mary.id } : {};
    const post = await served.create("/posts", { title: `Post ${number}`, status: "published", ...by });
    for (const body of ["first", "second", "third"])
      await served.create(`/posts/${post.id}/comments`, { body, ...by });
  }
}

function queries(served: Served): void {
  const titles = (rows: readonly { title: string }[]): string[] => rows.map(({ title }) => title);

  test("posts are the ten newest, as in REST", async () => {
    const { posts } = await dataOf(served, "{ posts { id title body status authorId createdAt updatedAt } }");
    assert.equal(posts.length, 10);
    assert.deepEqual(posts, (await served.request("/posts?limit=10")).body.data);
  });

  for (const [given, count] of [
    ["3", 3],
    ["0", 10],
    ["-1", 10],
    ["null", 10],
    ["100", 15],
    ["1000000", 15],
  ] as const) {
    test(`posts(limit: ${given}) are ${count}`, async () => {
      const { posts } = await dataOf(served, `{ posts(limit: ${given}) { id } }`);
      assert.equal(posts.length, count);
    });
  }

  test("a user has posts, whose comments have authors: nested both ways", async () => {
    const { body } = await served.request("/users?email=mary@example.com");
    const { user } = await dataOf(
      served,
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

  test("the same field stands twice under aliases, with arguments of its own", async () => {
    const { one, two, kind } = await dataOf(
      served,
      "{ one: posts(limit: 1) { title } two: posts(limit: 2) { t: title again: title } kind: __typename }",
    );
    assert.deepEqual(one, [{ title: "Post 12" }]);
    assert.deepEqual(two[1], { t: "Post 11", again: "Post 11" });
    assert.equal(kind, "Query");
  });

  test("fragments, directives and variables with defaults are followed", async () => {
    const query = `query ($n: Int = 1, $isBrief: Boolean!) {
      posts(limit: $n) { ...Named @skip(if: $isBrief) ... on Post @include(if: $isBrief) { kind: __typename } }
    }
    fragment Named on Post { title author { ...Person } }
    fragment Person on User { name }`;
    const brief = await dataOf(served, query, { variables: { isBrief: true } });
    assert.deepEqual(brief, { posts: [{ kind: "Post" }] });
    const long = await dataOf(served, query, { variables: { isBrief: false, n: 2 } });
    assert.deepEqual(titles(long.posts), ["Post 12", "Post 11"]);
    assert.equal(long.posts[0].author.name, "Mary");
  });

  test("members stand in the order of the document", async () => {
    const { text } = await requestGraphql(
      served,
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

  test("a row that is not there, and what is no id, is null and no error", async () => {
    const data = await dataOf(
      served,
      '{ user(id: "user_00000000000000000000000000") { id } post(id: "x") { id } node(id: "x") { id } other: node(id: "ship_00000000000000000000000000") { id } }',
    );
    assert.deepEqual(data, { user: null, post: null, node: null, other: null });
  });

  test("node finds whatever has the id", async () => {
    const [post] = (await served.request("/posts?limit=1")).body.data;
    const query = `query ($id: ID!) { node(id: $id) { __typename id ... on Post { title } ... on User { name } } }`;
    const { node } = await dataOf(served, query, { variables: { id: post.id } });
    assert.deepEqual(node, { __typename: "Post", id: post.id, title: "Post 12" });
    const author = await dataOf(served, query, { variables: { id: post.authorId } });
    assert.deepEqual(author.node, { __typename: "User", id: post.authorId, name: "Mary" });
  });

  test("search finds rows of several types, newest first", async () => {
    const { search } = await dataOf(
      served,
      '{ search(q: "eng") { __typename ... on Post { title } ... on Project { name slug } } }',
    );
    assert.deepEqual(search, [
      { __typename: "Project", name: "Difference Engine", slug: "difference-engine" },
      { __typename: "Post", title: "On the Analytical Engine" },
    ]);
    const { search: two } = await dataOf(served, '{ search(q: "post", limit: 2) { ... on Post { title } } }');
    assert.deepEqual(titles(two), ["Post 12", "Post 11"]);
  });

  test("comments are listed below their post", async () => {
    const [post] = (await served.request("/posts?limit=1")).body.data;
    const { comments } = await dataOf(served, `{ comments(postId: "${post.id}", limit: 2) { body } }`);
    assert.deepEqual(comments, [{ body: "third" }, { body: "second" }]);
  });

  test("introspection beside rows is answered in one go", async () => {
    const data = await dataOf(served, "{ __schema { queryType { name } } posts(limit: 1) { title } }");
    assert.deepEqual(data, { __schema: { queryType: { name: "Query" } }, posts: [{ title: "Post 12" }] });
  });

  test("600 fields of one row, and names of 200 characters, are answered all the same", async () => {
    const many = Array.from({ length: 600 }, (_, index) => `a${index}: title`).join(" ");
    const { posts } = await dataOf(served, `{ posts(limit: 1) { ${many} ${"x".repeat(200)}: id } }`);
    assert.equal(Object.keys(posts[0]).length, 601);
    assert.equal(posts[0].a599, "Post 12");
  });

  test("the cost is told where it is asked for", async () => {
    const nested = "{ posts(limit: 20) { id author { posts(first: 5) { id } } } }";
    const { body } = await requestGraphql(served, nested, { extensions: { cost: true } });
    assert.deepEqual(body.extensions, { cost: 20 * (1 + 1 + 5) });
    assert.equal((await requestGraphql(served, nested)).body.extensions, undefined);
  });
}

function connections(served: Served): void {
  const page = async (given: string, inside = "edges { cursor node { id } } pageInfo { ...All }") => {
    const fragment = "fragment All on PageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
    const named = inside.includes("...All") ? fragment : "";
    const data = await dataOf(served, `{ page: postsConnection(${given}) { ${inside} } } ${named}`);
    return data.page;
  };
  type Edges = readonly { cursor: string; node: { id: string } }[];
  const ids = (edges: Edges): string[] => edges.map(({ node }) => node.id);
  const everything = async (query = ""): Promise<string[]> =>
    (await served.request(`/posts?limit=100&fields=id${query}`)).body.data.map(
      ({ id }: { id: string }) => id,
    );

  for (const [sort, query] of [
    ["CREATED_AT_DESC", ""],
    ["TITLE_ASC", "&sort=title"],
  ] as const) {
    test(`walking forward by ${sort} meets every row once, in the order of REST`, async () => {
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
      assert.deepEqual(walked, await everything(query));
    });

    test(`walking backward by ${sort} meets them too, each page in the same order`, async () => {
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
      assert.deepEqual(walked, await everything(query));
    });
  }

  test("a cursor of REST goes on here, and one from here goes on in REST", async () => {
    const { pagination } = (await served.request("/posts?limit=3&status=published")).body;
    const filter = "filter: { status: published }";
    const { edges } = await page(`first: 3, ${filter}, after: "${pagination.nextCursor}"`);
    const all = await everything("&status=published");
    assert.deepEqual(ids(edges), all.slice(3, 6));
    const rest = await served.request(`/posts?limit=3&status=published&cursor=${edges[2].cursor}`);
    assert.deepEqual(
      rest.body.data.map(({ id }: { id: string }) => id),
      all.slice(6, 9),
    );
  });

  test("comments of a post have the cursors of /posts/{id}/comments", async () => {
    const [post] = (await served.request("/posts?limit=1")).body.data;
    const { body } = await served.request(`/posts/${post.id}/comments?limit=1`);
    const data = await dataOf(
      served,
      `{ page: commentsConnection(postId: "${post.id}", first: 1, after: "${body.pagination.nextCursor}") { edges { node { body } } } }`,
    );
    assert.deepEqual(data.page.edges, [{ node: { body: "second" } }]);
  });

  test("filters mean any of their values, and several filters all of them", async () => {
    const { edges } = await page("first: 100, filter: { status: [draft, archived] }");
    assert.deepEqual(ids(edges), await everything("&status=draft&status=archived"));
    const data = await dataOf(
      served,
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

  test("the facts of a page may be asked for without its rows, and rows in two ways", async () => {
    assert.deepEqual(await page("first: 1", "pageInfo { hasNextPage }"), { pageInfo: { hasNextPage: true } });
    const { edges } = await page("first: 1", "edges { a: node { title } b: node { status } __typename }");
    assert.deepEqual(edges, [
      { a: { title: "Post 12" }, b: { status: "published" }, __typename: "PostEdge" },
    ]);
  });

  for (const [fact, given, code] of [
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
    test(`${fact} is refused, with the path of the field`, async () => {
      const { pageInfo } = await page("first: 1");
      const query = `{ page: postsConnection(${given.replace("CURSOR", pageInfo.endCursor)}) { edges { cursor } } }`;
      const answer = await requestGraphql(served, query);
      assert.equal(answer.body.data, null);
      expectError(answer, { code, path: ["page"] });
    });
  }
}

function mutations(served: Served): void {
  test("a post is created, changed and deleted, and each answer has what is selected", async () => {
    const { createPost } = await dataOf(
      served,
      'mutation { createPost(input: { title: "Made" }) { id title body status author { name } comments { id } } }',
    );
    assert.deepEqual(
      { ...createPost, id: "" },
      { id: "", title: "Made", body: "", status: "draft", author: { name: "Ada Lovelace" }, comments: [] },
    );
    const { id } = createPost;
    const { updatePost } = await dataOf(
      served,
      "mutation ($id: ID!, $input: UpdatePostInput!) { updatePost(id: $id, input: $input) { t: title status __typename } }",
      { variables: { id, input: { status: "published" } } },
    );
    assert.deepEqual(updatePost, { t: "Made", status: "published", __typename: "Post" });
    const { deletePost } = await dataOf(
      served,
      `mutation { deletePost(id: "${id}") { title author { name } } }`,
    );
    assert.deepEqual(deletePost, { title: "Made", author: { name: "Ada Lovelace" } });
    assert.equal((await served.request(`/posts/${id}`)).status, 404);
    expectError(await requestGraphql(served, `mutation { deletePost(id: "${id}") { id } }`), {
      code: "not_found",
    });
  });

  test("a comment is created below its post", async () => {
    const [post] = (await served.request("/posts?limit=1")).body.data;
    const { createComment } = await dataOf(
      served,
      "mutation ($input: CreateCommentInput!) { createComment(input: $input) { body postId post { title } } }",
      { variables: { input: { postId: post.id, body: "here" } } },
    );
    assert.deepEqual(createComment, { body: "here", postId: post.id, post: { title: post.title } });
    expectError(
      await requestGraphql(served, 'mutation { createComment(input: { postId: "x", body: "lost" }) { id } }'),
      { code: "not_found", path: ["createComment"] },
    );
  });

  test("mutations happen in turn, and none after one that fails", async () => {
    const answer = await requestGraphql(
      served,
      `mutation {
        a: createProject(input: { name: "In turn" }) { slug }
        b: createProject(input: { name: "In turn" }) { slug }
        c: createProject(input: { name: "Never" }) { slug }
      }`,
    );
    assert.equal(answer.body.data, null);
    expectError(answer, { code: "conflict", path: ["b"], details: [{ field: "slug", issue: "duplicate" }] });
    const { body } = await served.request("/projects?fields=name");
    const names = body.data.map(({ name }: { name: string }) => name);
    assert.ok(names.includes("In turn") && !names.includes("Never"));
  });

  test("faults of an input have the details of REST", async () => {
    const answer = await requestGraphql(
      served,
      'mutation { createPost(input: { title: "", authorId: "x" }) { id } }',
    );
    expectError(answer, {
      code: "validation_error",
      path: ["createPost"],
      details: [
        { field: "title", issue: "min" },
        { field: "authorId", issue: "reference" },
      ],
    });
    expectError(await requestGraphql(served, "mutation { createPost(input: { title: null }) { id } }"), {
      code: "validation_error",
      message: /Expected value of non-null type "String!"|must not be null/,
    });
  });

  test("a key that is created is shown once, in the extensions", async () => {
    const { body } = await requestGraphql(
      served,
      'mutation { made: createApiKey(input: { name: "By GraphQL", scopes: ["posts:read"] }) { id status prefix } }',
    );
    const { key, warning } = body.extensions.revealed.made;
    assert.ok(key.startsWith(body.data.made.prefix));
    assert.match(warning, /not shown again/);
    assert.equal((await dataOf(served, "{ posts(limit: 1) { title } }", { key })).posts.length, 1);
    const rotated = await requestGraphql(
      served,
      `mutation { other: rotateApiKey(id: "${body.data.made.id}", input: { overlapSeconds: 60 }) { id name owner { name } } }`,
    );
    const { other } = rotated.body.data;
    assert.equal(other.name, "By GraphQL");
    assert.ok(other.owner.name);
    assert.notEqual(other.id, body.data.made.id);
    const replacement = rotated.body.extensions.revealed.other.key;
    assert.equal(
      (await dataOf(served, "{ posts(limit: 1) { title } }", { key: replacement })).posts.length,
      1,
    );
    const { errors } = (
      await requestGraphql(
        served,
        `mutation { rotateApiKey(id: "${other.id}", input: { overlapSeconds: -1 }) { id } }`,
      )
    ).body;
    assert.deepEqual(errors[0].extensions, {
      code: "validation_error",
      details: [{ field: "overlapSeconds", issue: "min" }],
    });
    const { deleteApiKey } = await dataOf(
      served,
      `mutation { deleteApiKey(id: "${body.data.made.id}") { status revokedAt } }`,
    );
    assert.equal(deleteApiKey.status, "revoked");
    assert.equal((await requestGraphql(served, "{ __typename }", { key })).status, 401);
  });
}

function scopesAndTenants(served: Served): void {
  const keyWith = async (scopes: string): Promise<string> =>
    (await runCommand(served.workspace, ["key", "create", "--name", "Narrow", "--scopes", scopes])).key;
  const modern = { accept: "application/graphql-response+json" };

  test("a missing scope inside is refused by its path, before anything runs", async () => {
    const key = await keyWith("posts:read,posts:write");
    const answer = await requestGraphql(
      served,
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
    assert.equal((await served.request("/posts?q=never")).body.data.length, 0);
  });

  test("to see what one writes needs no scope to read it", async () => {
    const key = await keyWith("posts:write");
    const { createPost } = await dataOf(
      served,
      'mutation { createPost(input: { title: "Blind" }) { title } }',
      {
        key,
      },
    );
    assert.equal(createPost.title, "Blind");
    expectError(await requestGraphql(served, "{ posts { id } }", { key }), {
      code: "insufficient_scope",
      path: ["posts"],
    });
  });

  test("a field that is skipped needs no scope", async () => {
    const key = await keyWith("posts:read");
    const { posts } = await dataOf(served, "{ posts(limit: 1) { author @skip(if: true) { name } } }", {
      key,
    });
    assert.deepEqual(posts, [{}]);
  });

  test("a search looks into what the credential may read", async () => {
    const key = await keyWith("projects:read");
    const query = '{ search(q: "engine") { __typename ... on Post { title author { name } } } }';
    assert.deepEqual((await dataOf(served, query, { key })).search, [{ __typename: "Project" }]);
    const [posts, nothing] = [await keyWith("posts:read"), await keyWith("deploy:read")];
    expectError(await requestGraphql(served, query, { key: posts }), {
      code: "insufficient_scope",
      path: ["search", "author"],
    });
    expectError(await requestGraphql(served, query, { key: nothing }), {
      code: "insufficient_scope",
      path: ["search"],
    });
  });

  test("introspection needs no scope, but a credential", async () => {
    const key = await keyWith("deploy:read");
    assert.equal(
      (await dataOf(served, "{ __schema { queryType { name } } }", { key })).__schema.queryType.name,
      "Query",
    );
    assert.equal((await requestGraphql(served, "{ __typename }", { key: null })).status, 401);
  });

  test("another tenant sees nothing of it: not by id, list, search, node, cursor, reference or mutation", async () => {
    const theirs: Tenant = await makeTenant(served.workspace);
    const as = { key: theirs.key };
    const [post] = (await served.request("/posts?limit=1")).body.data;
    const data = await dataOf(
      served,
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
    const page = await dataOf(served, "{ page: postsConnection(first: 1) { edges { cursor } } }");
    const [{ cursor }] = page.page.edges;
    expectError(
      await requestGraphql(served, `{ postsConnection(after: "${cursor}") { edges { cursor } } }`, as),
      {
        code: "invalid_cursor",
      },
    );
    expectError(await requestGraphql(served, `{ comments(postId: "${post.id}") { id } }`, as), {
      code: "not_found",
    });
    for (const mutation of [
      `updatePost(id: "${post.id}", input: { title: "Taken" }) { id }`,
      `deletePost(id: "${post.id}") { id }`,
      `createComment(input: { postId: "${post.id}", body: "Taken" }) { id }`,
    ])
      expectError(await requestGraphql(served, `mutation { ${mutation} }`, as), { code: "not_found" });
    expectError(
      await requestGraphql(
        served,
        `mutation { createPost(input: { title: "Taken", authorId: "${post.authorId}" }) { id } }`,
        as,
      ),
      { code: "validation_error", details: [{ field: "authorId", issue: "reference" }] },
    );
    assert.deepEqual((await served.request(`/posts/${post.id}`)).body, post);
  });
}

onEachDatabase("GraphQL over rows with a policy", (database) => {
  const served = serve(database, { cwd: resolve(import.meta.dirname, "../../fixtures/workshop") });

  test("what a policy hides is null where a row refers to it, and left out of lists", async () => {
    const words = [
      "user",
      "create",
      "--name",
      "Mary",
      "--email",
      "mary@example.com",
      "--password",
      "correct horse",
    ];
    const options = { cwd: resolve(import.meta.dirname, "../../fixtures/workshop") };
    const { user: mary } = await runCommand(served.workspace, words, options);
    const scopes = "diaries:read,diaries:write,diary-pages:read,diary-pages:write,users:read";
    const named = ["key", "create", "--name", "Hers", "--scopes", scopes, "--user", mary.id];
    const { key } = await runCommand(served.workspace, named, options);
    const made = await dataOf(
      served,
      'mutation { createDiary(input: { text: "Hers" }) { id owner { name } } }',
      { key },
    );
    const { id } = made.createDiary;
    const page = await dataOf(
      served,
      `mutation { createDiaryPage(input: { diaryId: "${id}", text: "One" }) { id diary { text } } }`,
      { key },
    );
    assert.deepEqual(page.createDiaryPage.diary, { text: "Hers" });
    const query = `{ diaryPage(id: "${page.createDiaryPage.id}") { text diary { text } } diaries { text } diary(id: "${id}") { text } }`;
    const theirs = { diaryPage: { text: "One", diary: null }, diaries: [], diary: null };
    assert.deepEqual(await dataOf(served, query), theirs);
    const hers = {
      diaryPage: { text: "One", diary: { text: "Hers" } },
      diaries: [{ text: "Hers" }],
      diary: { text: "Hers" },
    };
    assert.deepEqual(await dataOf(served, query, { key }), hers);
    expectError(
      await requestGraphql(served, `mutation { updateDiary(id: "${id}", input: { text: "Mine" }) { id } }`),
      {
        code: "not_found",
      },
    );
    expectError(
      await requestGraphql(
        served,
        `mutation { createDiary(input: { text: "Hers", ownerId: "${mary.id}" }) { id } }`,
      ),
      {
        code: "forbidden",
      },
    );
  });

  test("a fault of a hook tells the sandbox what it was, without its stack", async () => {
    const { createTool } = await dataOf(served, 'mutation { createTool(input: { name: "Saw" }) { id } }');
    const answer = await requestGraphql(
      served,
      `mutation { createUse(input: { toolId: "${createTool.id}", purpose: "crash" }) { id } }`,
    );
    assert.equal(answer.status, 200);
    const message = /^In the hook after\.create of use: Error: on purpose, with sk_test_\[redacted\], at /;
    expectError(answer, { code: "internal_error", message });
    assert.doesNotMatch(answer.text, /sk_test_inside|stack/);
    const forbidden = await requestGraphql(
      served,
      `mutation { createUse(input: { toolId: "${createTool.id}", purpose: "forbidden" }) { id } }`,
    );
    expectError(forbidden, { code: "forbidden", message: /Not for this purpose/ });
  });

  test("fields that are called as what every object has are fields like any other", async () => {
    const { createOddity } = await dataOf(
      served,
      'mutation { createOddity(input: { constructor: "x" }) { constructor toString valueOf hasOwnProperty } }',
    );
    assert.deepEqual(Object.entries(createOddity), [
      ["constructor", "x"],
      ["toString", "none"],
      ["valueOf", null],
      ["hasOwnProperty", false],
    ]);
    const { page } = await dataOf(
      served,
      '{ page: odditiesConnection(filter: { constructor: ["x"] }, sort: TO_STRING_ASC) { edges { node { constructor } } } }',
    );
    assert.deepEqual(page.edges, [{ node: { constructor: "x" } }]);
  });
});
