// Users over HTTP: the collection with numbered pages.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectAnswer, scenarios, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("users", (database) => {
  // The first user of the sandbox and 24 more: 25 in all.
  const server = serve(database, {
    prepare: async (at) => {
      for (let number = 1; number <= 24; number += 1) {
        const two = String(number).padStart(2, "0");
        await at.create("/users", { name: `User ${two}`, email: `user${two}@example.com` });
      }
    },
  });
  const names = async (query: string): Promise<string[]> => {
    const { body, text } = await server.request(`/users?${query}`);
    assert.ok(Array.isArray(body.data), text);
    return body.data.map(({ name }: { name: string }) => name);
  };

  test("a user has a name and an email address, and never a password", async () => {
    const [user] = (await server.request("/users?sort=createdAt")).body.data;
    assert.deepEqual(Object.keys(user), ["id", "name", "email", "role", "active", "createdAt", "updatedAt"]);
    assert.equal(user.email, "ada@example.com");
  });

  test("the first page has 20 users and the total number", async () => {
    const { body, headers } = await server.request("/users");
    assert.equal(body.data.length, 20);
    assert.deepEqual(body.pagination, { nextCursor: null, hasMore: true, total: 25 });
    assert.equal(headers.get("link"), '</users?page=2>; rel="next"');
  });

  test("the last page says that it is the last", async () => {
    const { body, headers } = await server.request("/users?page=2");
    assert.equal(body.data.length, 5);
    assert.deepEqual(body.pagination, { nextCursor: null, hasMore: false, total: 25 });
    assert.equal(headers.get("link"), '</users?page=1>; rel="prev"');
  });

  test("a page in the middle links to both neighbours and keeps the other parameters", async () => {
    const { headers } = await server.request("/users?sort=name&page=2&perPage=10");
    const link = headers.get("link");
    assert.match(link!, /<\/users\?sort=name&perPage=10&page=3>; rel="next"/);
    assert.match(link!, /<\/users\?sort=name&perPage=10&page=1>; rel="prev"/);
  });

  test("a page after the last is empty", async () => {
    const { body } = await server.request("/users?page=9");
    assert.deepEqual(body, { data: [], pagination: { nextCursor: null, hasMore: false, total: 25 } });
  });

  test("all pages together contain every user once", async () => {
    const pages = await Promise.all([1, 2, 3, 4].map((page) => names(`sort=name&page=${page}&perPage=7`)));
    const all = pages.flat();
    assert.deepEqual(
      pages.map(({ length }) => length),
      [7, 7, 7, 4],
    );
    assert.deepEqual(all, [...all].sort());
    assert.equal(new Set(all).size, 25);
  });

  test("an invalid perPage is replaced by 20, a larger one by 100", async () => {
    for (const unusable of ["0", "-1", "x", "1.5", ""]) {
      assert.equal((await names(`perPage=${unusable}`)).length, 20, unusable);
    }
    assert.equal((await names("perPage=1000")).length, 25);
  });

  test("the total counts the rows that match the filter and the search", async () => {
    const filtered = (await server.request("/users?email=user01@example.com&email=user02@example.com")).body;
    assert.equal(filtered.pagination.total, 2);
    const searched = (await server.request("/users?q=user&perPage=5")).body;
    assert.deepEqual([searched.data.length, searched.pagination.total], [5, 24]);
    const none = (await server.request("/users?q=nobody")).body;
    assert.deepEqual(none, { data: [], pagination: { nextCursor: null, hasMore: false, total: 0 } });
  });

  test("pages of a filter with several values continue where the one before ended", async () => {
    const several = [1, 2, 3, 4, 5].map((number) => `email=user0${number}@example.com`).join("&");
    const pages = await Promise.all(
      [1, 2, 3].map((page) => names(`${several}&sort=name&perPage=2&page=${page}`)),
    );
    assert.deepEqual(pages, [["User 01", "User 02"], ["User 03", "User 04"], ["User 05"]]);
  });

  test("an email address is unique regardless of case, also in an update", async () => {
    const duplicate = { name: "Twice", email: "ADA@Example.com" };
    const conflict = {
      status: 409,
      code: "conflict",
      details: [{ field: "email", issue: "duplicate" }],
    } as const;
    expectAnswer(await server.request("/users", { body: duplicate }), conflict);
    const [last] = (await server.request("/users?sort=-name&perPage=1")).body.data;
    for (const method of ["PUT", "PATCH"]) {
      expectAnswer(await server.request(`/users/${last.id}`, { method, body: duplicate }), conflict);
    }
    expectAnswer(await server.request(`/users/${last.id}`), { status: 200, body: last });
  });

  test("of two users created concurrently with one email address, one is refused", async () => {
    const body = { name: "Race", email: "race@example.com" };
    const answers = await Promise.all([1, 2, 3, 4].map(() => server.request("/users", { body })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409]);
    const winner = answers.find(({ status }) => status === 201)!.body;
    expectAnswer(await server.request(`/users/${winner.id}`, { method: "DELETE" }), { status: 204 });
  });

  test("a user with references to them cannot be deleted", async () => {
    const { id } = await server.create("/users", { name: "Author", email: "author@example.com" });
    const post = await server.create("/posts", { title: "Mine", authorId: id });
    const refused = await server.request(`/users/${id}`, { method: "DELETE" });
    expectAnswer(refused, { status: 409, code: "conflict", message: /referred to.*"active": false/ });
    expectAnswer(await server.request(`/users/${id}`), { status: 200 });
    for (const path of [`/posts/${post.id}`, `/users/${id}`])
      expectAnswer(await server.request(path, { method: "DELETE" }), { status: 204 });
  });

  scenarios(server, [
    {
      fact: "users have no cursors",
      path: "/users?cursor=abc",
      status: 422,
      code: "validation_error",
      details: [{ field: "cursor", issue: "unknown" }],
    },
    {
      fact: "users have no cursor direction",
      path: "/users?direction=backward",
      status: 422,
      details: [{ field: "direction", issue: "unknown" }],
    },
    {
      fact: "posts have no numbered pages",
      path: "/posts?page=2&perPage=5",
      status: 422,
      details: [
        { field: "page", issue: "unknown" },
        { field: "perPage", issue: "unknown" },
      ],
    },
    {
      fact: "pages are numbered from 1",
      path: "/users?page=0",
      status: 422,
      details: [{ field: "page", issue: "min" }],
    },
    {
      fact: "a page must be a number",
      path: "/users?page=two",
      status: 422,
      details: [{ field: "page", issue: "type" }],
    },
    {
      fact: "a page number that is too large is refused",
      path: "/users?page=999999999999999",
      status: 422,
      details: [{ field: "page", issue: "max" }],
    },
    {
      fact: "an invalid email address is refused",
      path: "/users",
      body: { name: "A", email: "nowhere" },
      status: 422,
      details: [{ field: "email", issue: "format" }],
    },
    {
      fact: "a password is not a field of a user",
      path: "/users",
      body: { name: "A", email: "a@example.com", password: "secret" },
      status: 422,
      details: [{ field: "password", issue: "unknown" }],
    },
    {
      fact: "all errors of a user are reported at once",
      path: "/users",
      body: { name: "", extra: 1 },
      status: 422,
      details: [
        { field: "email", issue: "required" },
        { field: "name", issue: "min" },
        { field: "extra", issue: "unknown" },
      ],
    },
  ]);
});
