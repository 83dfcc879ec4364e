// Posts over HTTP: the methods in the specification's table.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectAnswer, scenarios, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const idPattern = /^post_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const noSuchPost = "post_00000000000000000000000000";

onEachDatabase("posts", (database) => {
  const server = serve(database);
  const post = (body: object = {}) => server.create("/posts", { title: "A title", ...body });

  test("a created post can be read at its Location", async () => {
    const created = await server.request("/posts", { body: { title: "Hello" } });
    expectAnswer(created, { status: 201, headers: { location: `/posts/${created.body.id}` } });
    const read = await server.request(created.headers.get("location")!);
    assert.equal(read.status, 200);
    assert.deepEqual(read.body, created.body);
  });

  test("a post created under its version has a Location under that version", async () => {
    const created = await server.request("/v1/posts", { body: { title: "Hello" } });
    expectAnswer(created, { status: 201, headers: { location: `/v1/posts/${created.body.id}` } });
    expectAnswer(await server.request(`/posts/${created.body.id}`), { status: 200, body: created.body });
    expectAnswer(await server.request(`/v1/posts/${created.body.id}`), { status: 200, body: created.body });
  });

  test("a post has its fields in the order of the declaration, and omitted ones have their defaults", async () => {
    const { id, authorId, createdAt, updatedAt, ...rest } = await post();
    assert.match(id, idPattern);
    assert.match(authorId, /^user_/);
    assert.match(createdAt, timestampPattern);
    assert.equal(updatedAt, createdAt);
    assert.deepEqual(rest, { title: "A title", body: "", status: "draft" });
    const { text } = await server.request(`/posts/${id}`);
    const order = ["id", "title", "body", "status", "authorId", "createdAt", "updatedAt"];
    assert.deepEqual(Object.keys(JSON.parse(text)), order);
  });

  test("the creation timestamp is the current time, in UTC", async () => {
    const began = Date.now();
    const { createdAt } = await post();
    const age = Date.parse(createdAt) - began;
    assert.ok(age >= -1 && age < 5_000, createdAt);
  });

  test("ids sort by creation time", async () => {
    const ids = [await post(), await post(), await post()].map(({ id }) => id);
    assert.deepEqual([...ids].sort(), ids);
    assert.equal(new Set(ids).size, 3);
  });

  test("the author is the user of the key, or the one that the request names", async () => {
    const [first] = (await server.request("/users?sort=createdAt")).body.data;
    assert.equal((await post()).authorId, first.id);
    const other = await server.create("/users", { name: "Mary", email: "mary@example.com" });
    assert.equal((await post({ authorId: other.id })).authorId, other.id);
  });

  test("any Unicode text is returned as it was sent", async () => {
    const title = "日本語 – “quotes” \\ / \u0001\u2028 \ud83d\ude80 é é <b>&amp;";
    const body = 'line\nline\r\n\ttab\u007f,\n{"a":1}';
    const created = await post({ title, body });
    assert.equal(created.title, title);
    assert.equal(created.body, body);
    expectAnswer(await server.request(`/posts/${created.id}`), { status: 200, body: { title, body } });
    const { data } = (await server.request("/posts?limit=1")).body;
    assert.deepEqual(data, [created]);
  });

  test("the length of a text counts characters, not bytes or UTF-16 units", async () => {
    assert.equal((await post({ title: "\u{1f680}".repeat(200) })).title.length, 400);
    const tooLong = await server.request("/posts", { body: { title: "\u{1f680}".repeat(201) } });
    expectAnswer(tooLong, { status: 422, details: [{ field: "title", issue: "max" }] });
  });

  test("PUT replaces the post and resets omitted fields", async () => {
    const before = await post({ body: "Long", status: "published" });
    const replaced = await server.request(`/posts/${before.id}`, { method: "PUT", body: { title: "New" } });
    const { id, createdAt, authorId } = before;
    const { updatedAt, ...rest } = replaced.body;
    assert.equal(replaced.status, 200);
    assert.deepEqual(rest, { id, title: "New", body: "", status: "draft", authorId, createdAt });
    assert.ok(updatedAt >= before.updatedAt, updatedAt);
    expectAnswer(await server.request(`/posts/${id}`), { status: 200, body: replaced.body });
  });

  test("a second PUT changes nothing but updatedAt", async () => {
    const { id } = await post();
    const put = () => server.request(`/posts/${id}`, { method: "PUT", body: { title: "Same", body: "b" } });
    const [first, second] = [await put(), await put()];
    assert.deepEqual({ ...second.body, updatedAt: "" }, { ...first.body, updatedAt: "" });
  });

  test("PATCH changes only the fields it names", async () => {
    const before = await post({ body: "Long" });
    const patch = { method: "PATCH", body: { status: "archived" } };
    const changed = await server.request(`/posts/${before.id}`, patch);
    expectAnswer(changed, { status: 200 });
    const { updatedAt } = changed.body;
    assert.deepEqual(changed.body, { ...before, status: "archived", updatedAt });
    assert.ok(updatedAt >= before.updatedAt, updatedAt);
    expectAnswer(await server.request(`/posts/${before.id}`), { status: 200, body: changed.body });
  });

  test("PATCH accepts a merge patch", async () => {
    const { id } = await post();
    const changed = await server.request(`/posts/${id}`, {
      method: "PATCH",
      body: { title: "Patched" },
      headers: { "content-type": "application/merge-patch+json" },
    });
    expectAnswer(changed, { status: 200, body: { title: "Patched" } });
  });

  test("an empty PATCH changes no field", async () => {
    const before = await post();
    const { body } = await server.request(`/posts/${before.id}`, { method: "PATCH", body: {} });
    assert.deepEqual({ ...body, updatedAt: "" }, { ...before, updatedAt: "" });
  });

  test("DELETE deletes the post and returns no body, and the post is 404 afterwards", async () => {
    const { id } = await post();
    const removed = await server.request(`/posts/${id}`, { method: "DELETE" });
    expectAnswer(removed, { status: 204, headers: { "content-type": null } });
    assert.equal(removed.text, "");
    expectAnswer(await server.request(`/posts/${id}`), { status: 404, code: "not_found" });
    const again = await server.request(`/posts/${id}`, { method: "DELETE" });
    expectAnswer(again, { status: 404, code: "not_found" });
  });

  test("a refused update leaves the post unchanged", async () => {
    const before = await post();
    for (const method of ["PUT", "PATCH"]) {
      const answer = await server.request(`/posts/${before.id}`, { method, body: { title: "" } });
      expectAnswer(answer, { status: 422, details: [{ field: "title", issue: "min" }] });
    }
    assert.deepEqual((await server.request(`/posts/${before.id}`)).body, before);
  });

  test("a refused create leaves nothing behind", async () => {
    const count = async () => (await server.request("/posts?limit=100&fields=id")).body.data.length;
    const before = await count();
    expectAnswer(await server.request("/posts", { body: { body: "no title" } }), { status: 422 });
    assert.equal(await count(), before);
  });

  const missing = { status: 404, code: "not_found" } as const;
  scenarios(server, [
    {
      fact: "a post without a title is refused, and the error names the field",
      path: "/posts",
      body: {},
      status: 422,
      code: "validation_error",
      details: [{ field: "title", issue: "required" }],
      message: /`title` is required/,
    },
    {
      fact: "PUT requires the required fields too",
      path: async () => `/posts/${(await post()).id}`,
      method: "PUT",
      body: { body: "no title" },
      status: 422,
      details: [{ field: "title", issue: "required" }],
    },
    {
      fact: "null does not unset a required field",
      path: async () => `/posts/${(await post()).id}`,
      method: "PATCH",
      body: { title: null },
      status: 422,
      details: [{ field: "title", issue: "type" }],
    },
    {
      fact: "a status that is not one of the choices is refused",
      path: "/posts",
      body: { title: "A", status: "lost" },
      status: 422,
      details: [{ field: "status", issue: "choice" }],
    },
    {
      fact: "an author who does not exist is refused",
      path: "/posts",
      body: { title: "A", authorId: "user_00000000000000000000000000" },
      status: 422,
      code: "validation_error",
      details: [{ field: "authorId", issue: "reference" }],
    },
    {
      fact: "an author who does not exist is reported with the other errors",
      path: "/posts",
      body: { title: "", authorId: "user_00000000000000000000000000" },
      status: 422,
      details: [
        { field: "title", issue: "min" },
        { field: "authorId", issue: "reference" },
      ],
    },
    {
      fact: "an author that is not an id is refused in the same way",
      path: "/posts",
      body: { title: "A", authorId: "nobody" },
      status: 422,
      details: [{ field: "authorId", issue: "reference" }],
    },
    {
      fact: "a post can be read with a few of its fields, always including the id",
      path: async () => `/posts/${(await post({ title: "Few" })).id}?fields=title`,
      status: 200,
      answer: { title: "Few" },
    },
    { fact: "GET of a post that does not exist is 404", path: `/posts/${noSuchPost}`, ...missing },
    { fact: "GET of an invalid id is 404", path: "/posts/1", ...missing },
    {
      fact: "GET of an id of another resource is 404",
      path: noSuchPost.replace("post", "/posts/user"),
      ...missing,
    },
    {
      fact: "PUT does not create: a post that does not exist is 404",
      path: `/posts/${noSuchPost}`,
      method: "PUT",
      body: { title: "A" },
      ...missing,
    },
    {
      fact: "PATCH of a post that does not exist is 404",
      path: `/posts/${noSuchPost}`,
      method: "PATCH",
      body: { title: "A" },
      ...missing,
    },
    {
      fact: "DELETE of a post that does not exist is 404",
      path: `/posts/${noSuchPost}`,
      method: "DELETE",
      ...missing,
    },
  ]);

  test("100 posts that are created concurrently all exist, each once", async () => {
    const titles = Array.from({ length: 100 }, (_, number) => `At once ${number}`);
    const created = await Promise.all(titles.map((title) => post({ title })));
    assert.equal(new Set(created.map(({ id }) => id)).size, 100);
    const { data } = (await server.request("/posts?limit=100&q=once")).body;
    assert.deepEqual(data.map(({ title }: { title: string }) => title).sort(), [...titles].sort());
  });
});
