// Mutations, through the same operations as REST.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fillPosts } from "../../support/graphql/fill-posts.ts";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("GraphQL mutations", (database) => {
  const server = serve(database, { prepare: fillPosts });
  test("a post is created, updated and deleted, and each mutation returns its selection", async () => {
    const { createPost } = await dataOf(
      server,
      'mutation { createPost(input: { title: "Made" }) { id title body status author { name } comments { id } } }',
    );
    assert.deepEqual(
      { ...createPost, id: "" },
      { id: "", title: "Made", body: "", status: "draft", author: { name: "Ada Lovelace" }, comments: [] },
    );
    const { id } = createPost;
    const { updatePost } = await dataOf(
      server,
      "mutation ($id: ID!, $input: UpdatePostInput!) { updatePost(id: $id, input: $input) { t: title status __typename } }",
      { variables: { id, input: { status: "published" } } },
    );
    assert.deepEqual(updatePost, { t: "Made", status: "published", __typename: "Post" });
    const { deletePost } = await dataOf(
      server,
      `mutation { deletePost(id: "${id}") { title author { name } } }`,
    );
    assert.deepEqual(deletePost, { title: "Made", author: { name: "Ada Lovelace" } });
    assert.equal((await server.request(`/posts/${id}`)).status, 404);
    expectError(await requestGraphql(server, `mutation { deletePost(id: "${id}") { id } }`), {
      code: "not_found",
    });
  });

  test("a comment is created for its post", async () => {
    const [post] = (await server.request("/posts?limit=1")).body.data;
    const { createComment } = await dataOf(
      server,
      "mutation ($input: CreateCommentInput!) { createComment(input: $input) { body postId post { title } } }",
      { variables: { input: { postId: post.id, body: "here" } } },
    );
    assert.deepEqual(createComment, { body: "here", postId: post.id, post: { title: post.title } });
    expectError(
      await requestGraphql(server, 'mutation { createComment(input: { postId: "x", body: "lost" }) { id } }'),
      { code: "not_found", path: ["createComment"] },
    );
  });

  test("mutations run in order, and none is written if one fails", async () => {
    const answer = await requestGraphql(
      server,
      `mutation {
        a: createProject(input: { name: "In turn" }) { slug }
        b: createProject(input: { name: "In turn" }) { slug }
        c: createProject(input: { name: "Never" }) { slug }
      }`,
    );
    assert.equal(answer.body.data, null);
    expectError(answer, { code: "conflict", path: ["b"], details: [{ field: "slug", issue: "duplicate" }] });
    const { body } = await server.request("/projects?fields=name");
    const names = body.data.map(({ name }: { name: string }) => name);
    assert.ok(!names.includes("In turn") && !names.includes("Never"));
  });

  test("validation errors of an input have the details of REST", async () => {
    const answer = await requestGraphql(
      server,
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
    expectError(await requestGraphql(server, "mutation { createPost(input: { title: null }) { id } }"), {
      code: "validation_error",
      message: /Expected value of non-null type "String!"|must not be null/,
    });
  });

  test("a new key is returned once, in the extensions", async () => {
    const { body } = await requestGraphql(
      server,
      'mutation { created: createApiKey(input: { name: "By GraphQL", scopes: ["posts:read"] }) { id status prefix } }',
    );
    const { key, warning } = body.extensions.returnedOnce.created;
    assert.ok(key.startsWith(body.data.created.prefix));
    assert.match(warning, /not shown again/);
    assert.equal((await dataOf(server, "{ posts(limit: 1) { title } }", { key })).posts.length, 1);
    const rotated = await requestGraphql(
      server,
      `mutation { other: rotateApiKey(id: "${body.data.created.id}", input: { overlapSeconds: 60 }) { id name owner { name } } }`,
    );
    const { other } = rotated.body.data;
    assert.equal(other.name, "By GraphQL");
    assert.ok(other.owner.name);
    assert.notEqual(other.id, body.data.created.id);
    const replacement = rotated.body.extensions.returnedOnce.other.key;
    assert.equal(
      (await dataOf(server, "{ posts(limit: 1) { title } }", { key: replacement })).posts.length,
      1,
    );
    const { errors } = (
      await requestGraphql(
        server,
        `mutation { rotateApiKey(id: "${other.id}", input: { overlapSeconds: -1 }) { id } }`,
      )
    ).body;
    assert.deepEqual(errors[0].extensions, {
      code: "validation_error",
      details: [{ field: "overlapSeconds", issue: "min" }],
    });
    const { deleteApiKey } = await dataOf(
      server,
      `mutation { deleteApiKey(id: "${body.data.created.id}") { status revokedAt } }`,
    );
    assert.equal(deleteApiKey.status, "revoked");
    assert.equal((await requestGraphql(server, "{ __typename }", { key })).status, 401);
  });
});
