// Comments over HTTP: a collection nested under its post, and single comments by id.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectAnswer, scenarios, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const noSuchPost = "post_00000000000000000000000000";
const noSuchComment = "comment_00000000000000000000000000";

onEachDatabase("comments", (database) => {
  const server = serve(database);
  const post = () => server.create("/posts", { title: "Discussed" });
  const comment = (postId: string, body = "First!") => server.create(`/posts/${postId}/comments`, { body });
  const bodies = (answer: { body: { data: { body: string }[] } }) => answer.body.data.map(({ body }) => body);

  test("a comment that is created under a post can be read at its Location", async () => {
    const { id: postId } = await post();
    const created = await server.request(`/posts/${postId}/comments`, { body: { body: "First!" } });
    expectAnswer(created, { status: 201, headers: { location: `/comments/${created.body.id}` } });
    const { id, authorId, createdAt, updatedAt, ...rest } = created.body;
    assert.match(id, /^comment_/);
    assert.match(authorId, /^user_/);
    assert.equal(createdAt, updatedAt);
    assert.deepEqual(rest, { postId, body: "First!" });
    expectAnswer(await server.request(`/comments/${id}`), { status: 200, body: created.body });
  });

  test("a post lists its own comments only, newest first", async () => {
    const [first, second] = [await post(), await post()];
    await comment(first.id, "one");
    await comment(second.id, "elsewhere");
    await comment(first.id, "two");
    assert.deepEqual(bodies(await server.request(`/posts/${first.id}/comments`)), ["two", "one"]);
    assert.deepEqual(bodies(await server.request(`/v1/posts/${first.id}/comments`)), ["two", "one"]);
  });

  test("a post without comments has an empty list", async () => {
    const listed = await server.request(`/posts/${(await post()).id}/comments`);
    assert.deepEqual(listed.body, { data: [], pagination: { nextCursor: null, hasMore: false } });
  });

  test("PUT and PATCH change the comment and leave it under its post", async () => {
    const { id: postId } = await post();
    const { id } = await comment(postId);
    for (const method of ["PUT", "PATCH"]) {
      const changed = await server.request(`/comments/${id}`, { method, body: { body: method } });
      expectAnswer(changed, { status: 200, body: { id, postId, body: method } });
    }
  });

  test("a deleted comment is removed from the list of its post", async () => {
    const { id: postId } = await post();
    const { id } = await comment(postId);
    expectAnswer(await server.request(`/comments/${id}`, { method: "DELETE" }), { status: 204 });
    expectAnswer(await server.request(`/comments/${id}`), { status: 404, code: "not_found" });
    assert.deepEqual(bodies(await server.request(`/posts/${postId}/comments`)), []);
  });

  test("deleting a post deletes its comments and no others", async () => {
    const [removed, remaining] = [await post(), await post()];
    const [deletedComment, otherComment] = [await comment(removed.id), await comment(remaining.id)];
    expectAnswer(await server.request(`/posts/${removed.id}`, { method: "DELETE" }), { status: 204 });
    expectAnswer(await server.request(`/comments/${deletedComment.id}`), { status: 404 });
    expectAnswer(await server.request(`/posts/${removed.id}/comments`), { status: 404 });
    expectAnswer(await server.request(`/comments/${otherComment.id}`), { status: 200 });
  });

  test("comments can be filtered by their author", async () => {
    const { id: postId } = await post();
    const ownComment = await comment(postId, "mine");
    const mary = await server.create("/users", { name: "Mary", email: "mary@example.com" });
    await server.create(`/posts/${postId}/comments`, { body: "hers", authorId: mary.id });
    const by = (id: string) => server.request(`/posts/${postId}/comments?authorId=${id}`);
    assert.deepEqual(bodies(await by(mary.id)), ["hers"]);
    assert.deepEqual(bodies(await by(ownComment.authorId)), ["mine"]);
    assert.deepEqual(bodies(await by(`${ownComment.authorId}&authorId=${mary.id}`)), ["hers", "mine"]);
  });

  test("a comment can include fields of its post and of its author", async () => {
    const { id: postId } = await post();
    const { id } = await comment(postId);
    const { body } = await server.request(`/comments/${id}?fields=body,post.title,author.name`);
    assert.equal(body.post.title, "Discussed");
    assert.equal(body.author.name, "Ada Lovelace");
    assert.deepEqual(Object.keys(body), ["id", "body", "post", "author"]);
  });

  const missing = { status: 404, code: "not_found" } as const;
  scenarios(server, [
    {
      fact: "the comments of a post that does not exist are 404",
      path: `/posts/${noSuchPost}/comments`,
      ...missing,
    },
    { fact: "the comments of an invalid id are 404", path: "/posts/1/comments", ...missing },
    {
      fact: "a comment cannot be created under a post that does not exist",
      path: `/posts/${noSuchPost}/comments`,
      body: { body: "lost" },
      ...missing,
    },
    {
      fact: "a filter does not hide that the post does not exist",
      path: `/posts/${noSuchPost}/comments?authorId=nobody`,
      ...missing,
    },
    { fact: "a comment that does not exist is 404", path: `/comments/${noSuchComment}`, ...missing },
    { fact: "there is no list of all comments", path: "/comments", ...missing },
    {
      fact: "a comment cannot be moved to another post",
      path: async () => `/comments/${(await comment((await post()).id)).id}`,
      method: "PATCH",
      body: { postId: noSuchPost },
      status: 422,
      details: [{ field: "postId", issue: "read_only" }],
    },
    {
      fact: "the post of a comment comes from the path, not from the body",
      path: async () => `/posts/${(await post()).id}/comments`,
      body: { body: "x", postId: noSuchPost },
      status: 422,
      details: [{ field: "postId", issue: "read_only" }],
    },
    {
      fact: "an empty comment is refused",
      path: async () => `/posts/${(await post()).id}/comments`,
      body: { body: "" },
      status: 422,
      details: [{ field: "body", issue: "min" }],
    },
    {
      fact: "comments have no search",
      path: async () => `/posts/${(await post()).id}/comments?q=x`,
      status: 422,
      details: [{ field: "q", issue: "unknown" }],
    },
  ]);
});
