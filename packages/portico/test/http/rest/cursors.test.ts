// Cursors: forward and backward, bound to the list they were created for.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectAnswer, makeTenant, scenarios, serve, type Tenant } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

onEachDatabase("cursors", (database) => {
  let author = "";
  let other: Tenant;
  let postId = "";
  let otherPostId = "";
  const server = serve(database, {
    prepare: async (at) => {
      author = (await at.create("/users", { name: "Writer", email: "writer@example.com" })).id;
      for (let number = 1; number <= 7; number += 1)
        await at.create("/posts", { title: `Post ${number}`, authorId: author });
      [postId, otherPostId] = (await at.request("/posts?limit=2&fields=id")).body.data.map(
        ({ id }: { id: string }) => id,
      );
      for (const id of [postId, otherPostId])
        for (const body of ["a", "b", "c"]) await at.create(`/posts/${id}/comments`, { body });
      other = await makeTenant(at.workspace);
    },
  });
  const list = async (query: string) => {
    const { body, headers, text } = await server.request(`/posts?authorId=${author}&${query}`);
    assert.ok(Array.isArray(body.data), text);
    return {
      numbers: body.data.map(({ title }: { title: string }) => Number(title.slice(5))),
      pagination: body.pagination,
      link: headers.get("link") ?? "",
    };
  };
  const nextCursor = async (path: string, key?: string): Promise<string> => {
    const { body, text } = await server.request(path, key === undefined ? {} : { key });
    assert.equal(typeof body.pagination.nextCursor, "string", text);
    return body.pagination.nextCursor;
  };

  test("a cursor is base64url and contains the sort values of the last row", async () => {
    const { body } = await server.request("/posts?limit=2");
    const { id, createdAt } = body.data[1];
    const payload = JSON.parse(Buffer.from(body.pagination.nextCursor, "base64url").toString());
    assert.equal(payload.id, id);
    assert.equal(payload.createdAt, createdAt);
    assert.equal(typeof payload.createdAt, "string");
  });

  test("following nextCursor returns every row once, and the last page says that it is the last", async () => {
    const first = await list("limit=3");
    const second = await list(`limit=3&cursor=${first.pagination.nextCursor}`);
    const third = await list(`limit=3&cursor=${second.pagination.nextCursor}`);
    assert.deepEqual([first.numbers, second.numbers, third.numbers], [[7, 6, 5], [4, 3, 2], [1]]);
    assert.deepEqual(
      [first, second, third].map(({ pagination }) => pagination.hasMore),
      [true, true, false],
    );
    assert.equal(third.pagination.nextCursor, null);
  });

  test("going backward from prevCursor returns the page before, in the same order", async () => {
    const first = await list("limit=3");
    const second = await list(`limit=3&cursor=${first.pagination.nextCursor}`);
    const back = await list(`limit=3&direction=backward&cursor=${second.pagination.prevCursor}`);
    assert.deepEqual(back.numbers, first.numbers);
    assert.equal(back.pagination.hasMore, false);
    const again = await list(`limit=3&cursor=${back.pagination.nextCursor}`);
    assert.deepEqual(again.numbers, second.numbers);
  });

  test("a cursor works in both directions", async () => {
    const { pagination } = await list("limit=3");
    assert.deepEqual((await list(`limit=2&cursor=${pagination.nextCursor}`)).numbers, [4, 3]);
    const back = await list(`limit=2&direction=backward&cursor=${pagination.nextCursor}`);
    assert.deepEqual(back.numbers, [7, 6]);
  });

  test("going backward without a cursor returns the last page", async () => {
    const last = await list("limit=3&direction=backward");
    assert.deepEqual(last.numbers, [3, 2, 1]);
    assert.deepEqual([last.pagination.hasMore, last.pagination.nextCursor], [true, null]);
    const before = await list(`limit=3&direction=backward&cursor=${last.pagination.prevCursor}`);
    assert.deepEqual(before.numbers, [6, 5, 4]);
  });

  test("direction=forward is the default", async () => {
    assert.deepEqual(await list("limit=3&direction=forward"), await list("limit=3"));
  });

  test("the limit may differ from page to page", async () => {
    const first = await list("limit=2");
    assert.deepEqual((await list(`limit=4&cursor=${first.pagination.nextCursor}`)).numbers, [5, 4, 3, 2]);
  });

  test("the fields may differ from page to page", async () => {
    const first = await list("limit=2");
    const path = `/posts?authorId=${author}&limit=2&fields=id&cursor=${first.pagination.nextCursor}`;
    expectAnswer(await server.request(path), { status: 200 });
  });

  test("Link leads forward and back without extra parameters", async () => {
    const follow = async (link: string, relation: string) => {
      const target = new RegExp(`<([^>]+)>; rel="${relation}"`).exec(link)?.[1];
      assert.ok(target, link);
      return server.request(target);
    };
    const first = await list("limit=3");
    assert.doesNotMatch(first.link, /rel="prev"/);
    const second = await follow(first.link, "next");
    assert.deepEqual(
      second.body.data.map(({ title }: { title: string }) => title),
      ["Post 4", "Post 3", "Post 2"],
    );
    const previous = await follow(second.headers.get("link")!, "prev");
    assert.deepEqual(
      previous.body.data.map(({ title }: { title: string }) => title),
      ["Post 7", "Post 6", "Post 5"],
    );
    const next = await follow(previous.headers.get("link")!, "next");
    assert.equal(next.text, second.text);
  });

  test("a row that was inserted in between moves no other row", async () => {
    const first = await list("limit=3&sort=-title");
    const { id } = await server.create("/posts", { title: "Post 9", authorId: author });
    const second = await list(`limit=3&sort=-title&cursor=${first.pagination.nextCursor}`);
    await server.request(`/posts/${id}`, { method: "DELETE" });
    assert.deepEqual(second.numbers, [4, 3, 2]);
  });

  test("a cursor stays valid after its row is deleted", async () => {
    const { id } = await server.create("/posts", { title: "Post 8", authorId: author });
    const { pagination } = await list("limit=1");
    await server.request(`/posts/${id}`, { method: "DELETE" });
    assert.deepEqual((await list(`limit=1&cursor=${pagination.nextCursor}`)).numbers, [7]);
  });

  test("rows with the same sort value are ordered by their ids", async () => {
    const same = (await server.create("/users", { name: "Same", email: "same@example.com" })).id;
    for (let number = 0; number < 5; number += 1)
      await server.create("/posts", { title: "Same", authorId: same });
    const ids: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await server.request(`/posts?authorId=${same}&sort=title&limit=2${cursor}`);
      ids.push(...body.data.map(({ id }: { id: string }) => id));
      if (body.pagination.nextCursor === null) break;
      cursor = `&cursor=${body.pagination.nextCursor}`;
    }
    assert.equal(ids.length, 5);
    assert.deepEqual(ids, [...new Set(ids)].sort());
  });

  test("the order of filters and of their values does not make another list", async () => {
    const cursor = await nextCursor(`/posts?status=draft&status=published&authorId=${author}&limit=1`);
    const reordered = `/posts?authorId=${author}&status=published&status=draft&limit=1&cursor=${cursor}`;
    expectAnswer(await server.request(reordered), { status: 200 });
  });

  const refused = { status: 400, code: "invalid_cursor" } as const;
  const posted = (query: string) => async () =>
    `/posts?${query}&cursor=${await nextCursor("/posts?limit=2")}`;
  const altered = (change: (payload: Record<string, unknown>) => unknown) => async () => {
    const payload = JSON.parse(Buffer.from(await nextCursor("/posts?limit=2"), "base64url").toString());
    const changed = Buffer.from(JSON.stringify(change(payload))).toString("base64url");
    return `/posts?limit=2&cursor=${changed}`;
  };
  /** Changes the member of a cursor that is neither the sort value nor the id. */
  const signed = (signature: string) =>
    altered(({ id, createdAt, ...rest }) => {
      assert.equal(Object.keys(rest).length, 1);
      return { id, createdAt, ...Object.fromEntries(Object.keys(rest).map((name) => [name, signature])) };
    });
  scenarios(server, [
    { fact: "a cursor of one sort is refused on another", path: posted("sort=title"), ...refused },
    {
      fact: "a cursor of one sort direction is refused on the other",
      path: posted("sort=createdAt"),
      ...refused,
    },
    {
      fact: "a cursor of one sort is refused on another of the same type",
      path: posted("sort=-updatedAt"),
      ...refused,
    },
    { fact: "a cursor without a filter is refused with one", path: posted("status=draft"), ...refused },
    {
      fact: "a cursor of one filter is refused without it",
      path: async () => `/posts?cursor=${await nextCursor("/posts?status=draft&limit=1")}`,
      ...refused,
    },
    {
      fact: "a cursor of one filter value is refused on another",
      path: async () => `/posts?status=published&cursor=${await nextCursor("/posts?status=draft&limit=1")}`,
      ...refused,
    },
    { fact: "a cursor without a search is refused with one", path: posted("q=post"), ...refused },
    {
      fact: "a cursor of one search is refused on another",
      path: async () => `/posts?q=numbers&cursor=${await nextCursor("/posts?q=post&limit=1")}`,
      ...refused,
    },
    {
      fact: "a cursor of one collection is refused on another",
      path: async () => `/v1/deployments?cursor=${await nextCursor("/posts?limit=1")}`,
      ...refused,
    },
    {
      fact: "a cursor of one parent is refused on another",
      path: async () =>
        `/posts/${otherPostId}/comments?cursor=${await nextCursor(`/posts/${postId}/comments?limit=1`)}`,
      ...refused,
    },
    { fact: "an empty cursor is refused", path: "/posts?cursor=", ...refused },
    { fact: "a cursor that is not base64url is refused", path: "/posts?cursor=%21%21", ...refused },
    { fact: "a cursor that is not JSON is refused", path: "/posts?cursor=abcd", ...refused },
    { fact: "a cursor that contains null is refused", path: altered(() => null), ...refused },
    { fact: "a cursor that contains a list is refused", path: altered(() => []), ...refused },
    {
      fact: "a cursor with another id is refused",
      path: altered((payload) => ({ ...payload, id: postId })),
      ...refused,
    },
    {
      fact: "a cursor with another timestamp is refused",
      path: altered((payload) => ({ ...payload, createdAt: "2026-01-01T00:00:00.000Z" })),
      ...refused,
    },
    {
      fact: "a cursor whose timestamp is a number is refused",
      path: altered((payload) => ({ ...payload, createdAt: 1 })),
      ...refused,
    },
    {
      fact: "a cursor whose id is a number is refused",
      path: altered((payload) => ({ ...payload, id: 1 })),
      ...refused,
    },
    {
      fact: "a cursor without a signature is refused",
      path: altered(({ id, createdAt }) => ({ id, createdAt })),
      ...refused,
    },
    {
      fact: "a cursor with an empty signature is refused",
      path: signed(""),
      ...refused,
    },
    {
      fact: "a cursor with a wrong signature of the right length is refused",
      path: signed("A".repeat(22)),
      ...refused,
    },
    {
      fact: "a cursor with other characters in its signature is refused",
      path: signed("\u{1f680}".repeat(11)),
      ...refused,
    },
    {
      fact: "a cursor longer than the maximum is refused",
      path: `/posts?cursor=${"A".repeat(8_000)}`,
      ...refused,
    },
    {
      fact: "two cursors are refused",
      path: "/posts?cursor=a&cursor=b",
      status: 422,
      details: [{ field: "cursor", issue: "duplicate" }],
    },
  ]);

  test("a cursor of another tenant is refused", async () => {
    const cursor = await nextCursor("/posts?limit=1");
    expectAnswer(await server.request(`/posts?limit=1&cursor=${cursor}`, { key: other.key }), refused);
  });

  test("a truncated cursor is refused, wherever it is cut", async () => {
    const cursor = await nextCursor("/posts?limit=1");
    for (let length = 1; length < cursor.length; length += 9) {
      expectAnswer(await server.request(`/posts?limit=1&cursor=${cursor.slice(0, length)}`), refused);
    }
  });

  test("a cursor with one altered character is refused", async () => {
    const cursor = await nextCursor("/posts?limit=1");
    const original = Buffer.from(cursor, "base64url");
    for (let index = 0; index < cursor.length; index += 7) {
      const replacement = cursor[index] === "A" ? "B" : "A";
      const changed = cursor.slice(0, index) + replacement + cursor.slice(index + 1);
      // The unused bits of the last character carry no data.
      if (Buffer.from(changed, "base64url").equals(original)) continue;
      expectAnswer(await server.request(`/posts?limit=1&cursor=${changed}`), refused);
    }
  });
});

onEachDatabase("cursors after a change of the secret", (database) => {
  const [older, newer] = ["o".repeat(32), "n".repeat(32)];

  test("a cursor is valid as long as its secret is one of the two", async () => {
    const workspace = await makeWorkspace(database);
    try {
      let key = "";
      const withSecret = async <T>(secret: string, use: (portico: Portico) => Promise<T>): Promise<T> => {
        const portico = await Portico.start(workspace, {
          env: { PORTICO_SECRET: secret },
          ...(key && { key }),
        });
        key = portico.key;
        try {
          return await use(portico);
        } finally {
          await portico.stop();
        }
      };
      const page = (cursor?: string) => (portico: Portico) =>
        portico.request(`/posts?limit=1${cursor ? `&cursor=${cursor}` : ""}`);
      const cursor = (await withSecret(older, page())).body.pagination.nextCursor;
      const rotated = await withSecret(`${newer},${older}`, page(cursor));
      expectAnswer(rotated, { status: 200 });
      const renewed = rotated.body.pagination.nextCursor;
      // The rotated server signs with the newer of its two secrets.
      expectAnswer(await withSecret(newer, page(renewed)), { status: 200 });
      expectAnswer(await withSecret(newer, page(cursor)), { status: 400, code: "invalid_cursor" });
    } finally {
      await workspace.remove();
    }
  });
});
