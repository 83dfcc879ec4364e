// What every collection returns: envelope, limit, sort, filters, fields, search.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectAnswer, scenarios, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const statuses = ["draft", "published", "archived"] as const;

onEachDatabase("collections", (database) => {
  let ada = "";
  let mary = "";
  // 105 posts by Mary, numbered, a third in each status. The seeded posts are by Ada.
  const server = serve(database, {
    prepare: async (at) => {
      ada = (await at.request("/users")).body.data[0].id;
      mary = (await at.create("/users", { name: "Mary", email: "mary@example.com" })).id;
      for (let number = 0; number < 105; number += 1) {
        const title = `Numbered ${String(number).padStart(3, "0")}`;
        await at.create("/posts", { title, status: statuses[number % 3], authorId: mary });
      }
    },
  });
  interface Row {
    readonly id: string;
    readonly title: string;
    readonly status: string;
    readonly createdAt: string;
  }
  const rows = async (query: string): Promise<Row[]> => {
    const { body, text } = await server.request(`/posts?${query}`);
    assert.ok(Array.isArray(body.data), text);
    return body.data;
  };
  const numbers = async (query: string) =>
    (await rows(`authorId=${mary}&${query}`)).map(({ title }) => Number(title.slice(-3)));

  test("the envelope has only data and pagination", async () => {
    const { body } = await server.request("/posts");
    assert.deepEqual(Object.keys(body), ["data", "pagination"]);
    assert.deepEqual(Object.keys(body.pagination), ["nextCursor", "hasMore", "prevCursor"]);
    assert.equal(body.pagination.hasMore, true);
    assert.match(body.pagination.nextCursor, /^[\w-]+$/);
  });

  test("a list that fits on one page has no next page", async () => {
    const { body, headers } = await server.request(`/posts?authorId=${ada}`);
    assert.equal(body.data.length, 3);
    assert.equal(body.pagination.nextCursor, null);
    assert.equal(body.pagination.hasMore, false);
    assert.equal(headers.get("link"), null);
  });

  test("a page that the last rows fill exactly has no next page", async () => {
    const { body } = await server.request(`/posts?authorId=${ada}&limit=3`);
    assert.equal(body.data.length, 3);
    assert.deepEqual([body.pagination.hasMore, body.pagination.nextCursor], [false, null]);
  });

  test("an empty list is an empty page, not an error", async () => {
    const { body } = await server.request("/posts?authorId=nobody");
    assert.deepEqual(body, { data: [], pagination: { nextCursor: null, hasMore: false } });
  });

  for (const [limit, length] of [
    ["", 20],
    ["limit=1", 1],
    ["limit=100", 100],
    ["limit=101", 100],
    ["limit=99999999999999999999", 100],
    ["limit=0", 20],
    ["limit=-5", 20],
    ["limit=ten", 20],
    ["limit=5.5", 20],
    ["limit=1e1", 20],
    ["limit=", 20],
    ["limit=%2010", 20],
  ] as const) {
    test(`a page has ${length} rows if the query is '${limit}'`, async () => {
      assert.equal((await rows(limit)).length, length);
    });
  }

  test("a list shows the newest rows first", async () => {
    assert.deepEqual(await numbers("limit=3"), [104, 103, 102]);
  });

  test("a list can be sorted by the declared fields, in both directions", async () => {
    assert.deepEqual(await numbers("sort=title&limit=3"), [0, 1, 2]);
    assert.deepEqual(await numbers("sort=-title&limit=3"), [104, 103, 102]);
    assert.deepEqual(await numbers("sort=createdAt&limit=3"), [0, 1, 2]);
    assert.deepEqual(await numbers("sort=-createdAt&limit=3"), [104, 103, 102]);
  });

  test("the row that was updated last comes first by updatedAt", async () => {
    const [oldest] = await rows(`authorId=${mary}&sort=createdAt&limit=1`);
    await server.request(`/posts/${oldest!.id}`, { method: "PATCH", body: { body: "touched" } });
    const [first] = await rows("sort=-updatedAt&limit=1");
    assert.equal(first!.id, oldest!.id);
  });

  test("texts are sorted by code point", async () => {
    const mixed = ["b", "a", "B", "_", "é", "z", "\u{1f680}", "\uffee"];
    const author = (await server.create("/users", { name: "Sorter", email: "sorter@example.com" })).id;
    for (const title of mixed) await server.create("/posts", { title, authorId: author });
    const titles = (await rows(`authorId=${author}&sort=title`)).map(({ title }) => title);
    assert.deepEqual(titles, ["B", "_", "a", "b", "z", "é", "\uffee", "\u{1f680}"]);
  });

  test("a filter returns the rows with the value", async () => {
    const matches = await rows("status=published&limit=100");
    assert.ok(matches.length >= 35);
    assert.ok(matches.every(({ status }) => status === "published"));
  });

  test("a repeated filter matches any of its values, in one order", async () => {
    assert.deepEqual(await numbers("status=draft&status=archived&limit=5&sort=title"), [0, 2, 3, 5, 6]);
    assert.deepEqual(await numbers("status=draft&status=draft&limit=2&sort=title"), [0, 3]);
  });

  test("several filters must all match", async () => {
    const matches = await rows(`status=published&status=draft&authorId=${ada}`);
    assert.equal(matches.length, 3);
    assert.deepEqual(await rows(`status=archived&authorId=${ada}`), []);
  });

  test("a filter accepts more values than a page has rows", async () => {
    const others = Array.from({ length: 49 }, (_, number) => `authorId=nobody${number}`).join("&");
    assert.equal((await rows(`${others}&authorId=${ada}`)).length, 3);
  });

  test("a collection returns the same page under its version prefix", async () => {
    const [plain, versioned] = [
      await server.request("/posts?limit=5"),
      await server.request("/v1/posts?limit=5"),
    ];
    assert.equal(versioned.text, plain.text);
  });

  test("the requested fields are returned in the order of the declaration, with the id", async () => {
    const [row] = await rows("fields=status,title&limit=1");
    assert.deepEqual(Object.keys(row!), ["id", "title", "status"]);
    const [only] = await rows("fields=id&limit=1");
    assert.deepEqual(Object.keys(only!), ["id"]);
  });

  test("fields may be listed with spaces and twice", async () => {
    const [row] = await rows("fields=title,%20status,title&limit=1");
    assert.deepEqual(Object.keys(row!), ["id", "title", "status"]);
  });

  test("a dot selects fields of the referenced row", async () => {
    const { body } = await server.request(
      `/posts?authorId=${ada}&fields=title,author.name,author.email&limit=1`,
    );
    const [{ author, ...row }] = body.data;
    assert.deepEqual(Object.keys(row), ["id", "title"]);
    assert.equal(author.name, "Ada Lovelace");
    assert.equal(author.email, "ada@example.com");
    assert.match(author.id, /^user_/);
    assert.deepEqual(Object.keys(author), ["id", "name", "email"]);
  });

  test("pages continue where they ended even if the selection omits the sort field", async () => {
    const path = `/posts?authorId=${mary}&sort=title&fields=id&limit=40`;
    const ids: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await server.request(`${path}${cursor}`);
      ids.push(...body.data.map(({ id }: Row) => id));
      if (!body.pagination.hasMore) break;
      cursor = `&cursor=${body.pagination.nextCursor}`;
    }
    assert.equal(new Set(ids).size, 105);
    assert.equal(ids.length, 105);
  });

  test("fields of another resource require its scope", async () => {
    const { key } = await server.command("key", "create", "--name", "Posts", "--scopes", "posts:read");
    expectAnswer(await server.request("/posts?fields=title", { key }), { status: 200 });
    expectAnswer(await server.request("/posts?fields=author.name", { key }), {
      status: 403,
      code: "insufficient_scope",
      message: /users:read/,
    });
  });

  const rejected = (field: string, issue: "unknown" | "choice" | "duplicate" | "max" | "format") =>
    ({ status: 422, code: "validation_error", details: [{ field, issue }] }) as const;
  scenarios(server, [
    {
      fact: "an unknown parameter is refused, not ignored",
      path: "/posts?stauts=draft",
      ...rejected("stauts", "unknown"),
      message: /^Unknown query parameter `stauts`\.$/,
    },
    {
      fact: "a field without a filter is not a parameter",
      path: "/posts?title=x",
      ...rejected("title", "unknown"),
    },
    {
      fact: "sorting by a field that is not declared for it is refused",
      path: "/posts?sort=body",
      ...rejected("sort", "choice"),
      message: /createdAt, updatedAt, title/,
    },
    { fact: "an empty sort is refused", path: "/posts?sort=", ...rejected("sort", "choice") },
    {
      fact: "sorting by more than three fields is refused",
      path: "/posts?sort=title,createdAt,updatedAt,title",
      ...rejected("sort", "max"),
    },
    {
      fact: "a sort with two minus signs is refused",
      path: "/posts?sort=--title",
      ...rejected("sort", "choice"),
    },
    {
      fact: "sorting by a property that every object inherits is refused",
      path: "/posts?sort=constructor",
      ...rejected("sort", "choice"),
    },
    {
      fact: "two sorts are refused",
      path: "/posts?sort=title&sort=createdAt",
      ...rejected("sort", "duplicate"),
    },
    { fact: "two limits are refused", path: "/posts?limit=1&limit=2", ...rejected("limit", "duplicate") },
    { fact: "two searches are refused", path: "/posts?q=a&q=b", ...rejected("q", "duplicate") },
    {
      fact: "an unknown direction is refused",
      path: "/posts?direction=up",
      ...rejected("direction", "choice"),
    },
    {
      fact: "a value that no row can have is refused",
      path: "/posts?status=lost",
      ...rejected("status", "choice"),
    },
    {
      fact: "more than 50 values for one filter are refused",
      path: `/posts?${Array.from({ length: 51 }, (_, number) => `authorId=u${number}`).join("&")}`,
      ...rejected("authorId", "max"),
    },
    {
      fact: "an unknown field is refused",
      path: "/posts?fields=id,nope",
      ...rejected("fields", "unknown"),
      message: /nope/,
    },
    {
      fact: "an unknown field of a reference is refused",
      path: "/posts?fields=author.nope",
      ...rejected("fields", "unknown"),
      message: /author\.nope/,
    },
    {
      fact: "a field that is not a reference has no fields",
      path: "/posts?fields=title.length",
      ...rejected("fields", "unknown"),
    },
    {
      fact: "a reference needs a selection of fields",
      path: "/posts?fields=author",
      ...rejected("fields", "unknown"),
    },
    { fact: "an empty selection is refused", path: "/posts?fields=", ...rejected("fields", "unknown") },
    {
      fact: "all errors of a query are reported at once",
      path: "/posts?sort=nope&fields=nope&x=1",
      status: 422,
      details: [
        { field: "sort", issue: "choice" },
        { field: "fields", issue: "unknown" },
        { field: "x", issue: "unknown" },
      ],
    },
    {
      fact: "a single row has no filters",
      path: async () => `/posts/${(await rows("limit=1"))[0]!.id}?status=draft`,
      ...rejected("status", "unknown"),
    },
    {
      fact: "a write has no parameters",
      path: "/posts?fields=id",
      body: { title: "x" },
      ...rejected("fields", "unknown"),
    },
  ]);
});
