// Declared fields over HTTP: every kind of field, its limits, defaults and filters.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { expectAnswer, scenarios, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/workshop");

onEachDatabase("fields of every kind", (database) => {
  const server = serve(database, { cwd });
  const tool = (body: object) => server.create("/tools", { name: "Tool", ...body });
  const names = async (query: string): Promise<string> => {
    const { body, text } = await server.request(`/tools?${query}`);
    assert.ok(Array.isArray(body.data), text);
    return body.data.map(({ name }: { name: string }) => name).join("");
  };

  test("an omitted field has its default, and an internal one is not returned", async () => {
    const { id, createdAt, updatedAt, seenAt, ...rest } = await tool({});
    assert.match(id, /^tool_/);
    assert.equal(seenAt, createdAt);
    assert.deepEqual(rest, {
      name: "Tool",
      weight: null,
      count: 1,
      isSharp: false,
      boughtAt: null,
      meta: {},
      notes: null,
      tags: [],
      sizes: null,
      serial: null,
      uses: 0,
    });
    assert.deepEqual((await server.request(`/tools/${id}`)).body, {
      id,
      createdAt,
      updatedAt,
      seenAt,
      ...rest,
    });
  });

  test("fields named like properties that every object inherits are ordinary fields", async () => {
    const shown = ({ body }: Answer) => {
      const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...rest } = body;
      return rest;
    };
    const bare = { constructor: null, toString: "none", valueOf: null, hasOwnProperty: false };
    assert.deepEqual(shown(await server.request("/oddities", { body: {} })), bare);
    const fields = { constructor: "Smith", toString: "text", hasOwnProperty: true };
    const created = await server.request("/oddities", { body: fields });
    const path = `/oddities/${created.body.id}`;
    assert.deepEqual(shown(created), { ...bare, ...fields });
    assert.deepEqual(shown(await server.request(path, { method: "PATCH", body: {} })), {
      ...bare,
      ...fields,
    });
    const { data } = (await server.request("/oddities?constructor=Smith&sort=toString")).body;
    assert.deepEqual(
      data.map(({ id }: { id: string }) => id),
      [created.body.id],
    );
    assert.deepEqual(shown(await server.request(path, { method: "PUT", body: {} })), bare);
  });

  test("values are returned as they were sent", async () => {
    const values = {
      weight: 0.1,
      count: Number.MAX_SAFE_INTEGER,
      isSharp: true,
      boughtAt: "2026-11-21T09:30:00.123Z",
      meta: { z: 1, a: [null, true, 1.5, "ü\u2028", { __proto__x: {} }], "": "" },
      notes: "a text is JSON too",
      serial: "A-1",
    };
    const { id } = await tool(values);
    const { body } = await server.request(`/tools/${id}`);
    assert.partialDeepStrictEqual(body, values);
    assert.deepEqual(Object.keys(body.meta), ["z", "a", ""], "members keep their order");
    await server.request(`/tools/${id}`, { method: "DELETE" });
  });

  test("numbers keep their value", async () => {
    for (const weight of [0, 1, 1e-7, 123.456, 999.9999999999999, 5e-324]) {
      const { id } = await tool({ weight });
      assert.equal((await server.request(`/tools/${id}`)).body.weight, weight);
    }
  });

  test("a timestamp is stored in UTC with milliseconds, whatever its time zone", async () => {
    assert.equal(
      (await tool({ boughtAt: "2026-11-21T10:30:00.5+01:00" })).boughtAt,
      "2026-11-21T09:30:00.500Z",
    );
  });

  test("a member called __proto__ in JSON is an ordinary member", async () => {
    const created = await server.request("/tools", {
      body: '{"name": "Tool", "meta": {"__proto__": {"polluted": 1}, "constructor": 2}}',
    });
    assert.equal(created.status, 201);
    assert.match(created.text, /"__proto__": ?\{"polluted": ?1\}/);
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  });

  test("PATCH merges JSON fields: null removes a member, a list replaces the old one", async () => {
    const { id } = await tool({ meta: { keep: 1, drop: 2, deep: { a: 1, b: 2 }, list: [1, 2] } });
    const change = async (meta: unknown) =>
      (await server.request(`/tools/${id}`, { method: "PATCH", body: { meta } })).body.meta;
    const merged = await change({ drop: null, deep: { b: null, c: 3 }, list: [3], "": 0 });
    assert.deepEqual(merged, { keep: 1, deep: { a: 1, c: 3 }, list: [3], "": 0 });
    assert.deepEqual(await change([1]), [1]);
    assert.deepEqual(await change({ a: { b: null } }), { a: {} });
  });

  test("PUT replaces JSON fields as a whole", async () => {
    const { id } = await tool({ meta: { a: 1, b: 2 } });
    const replaced = await server.request(`/tools/${id}`, {
      method: "PUT",
      body: { name: "Tool", meta: { c: 3 } },
    });
    assert.deepEqual(replaced.body.meta, { c: 3 });
  });

  test("nulls come first in ascending and last in descending order, through every page and back", async () => {
    const weights = [2, null, 1, null, 3];
    for (const [index, weight] of weights.entries())
      await tool({ name: "abcde"[index], weight, serial: `null-${index}` });
    const filter = weights.map((_, index) => `serial=null-${index}`).join("&");
    const walk = async (sort: string, direction: "forward" | "backward"): Promise<string> => {
      let walked = "";
      for (let cursor = ""; ; ) {
        const { body } = await server.request(
          `/tools?${filter}&sort=${sort}&limit=2&direction=${direction}${cursor}`,
        );
        const page = body.data.map(({ name }: { name: string }) => name).join("");
        walked = direction === "forward" ? walked + page : page + walked;
        if (!body.pagination.hasMore) return walked;
        cursor = `&cursor=${direction === "forward" ? body.pagination.nextCursor : body.pagination.prevCursor}`;
      }
    };
    for (const direction of ["forward", "backward"] as const) {
      assert.equal(await walk("weight", direction), "bdcae");
      assert.equal(await walk("-weight", direction), "eacdb");
    }
  });

  test("numbers and booleans are filtered by value, not by text", async () => {
    for (const [name, weight, isSharp] of [
      ["x", 9, true],
      ["y", 10, false],
      ["z", 100, true],
    ] as const)
      await tool({ name, weight: weight + 500, isSharp });
    const heavy = "weight[gte]=509&weight[lte]=600&sort=weight";
    assert.equal(await names(heavy), "xyz");
    assert.equal(await names("weight[gt]=509&weight[lt]=600"), "y");
    assert.equal(await names(`${heavy}&isSharp=true`), "xz");
    assert.equal(await names(`${heavy}&isSharp=true&isSharp=false`), "xyz");
    assert.equal(await names("weight=509.0&weight=5.1e2&sort=weight"), "xy");
  });

  const refused = (field: string, issue: "type" | "min" | "max" | "format" | "read_only" | "unknown") =>
    ({ status: 422, details: [{ field, issue }] }) as const;
  const bodies: readonly (readonly [object | string, ReturnType<typeof refused>])[] = [
    [{ weight: "1" }, refused("weight", "type")],
    [{ weight: -1 }, refused("weight", "min")],
    [{ weight: 1001 }, refused("weight", "max")],
    ['{"name": "x", "weight": 1e400}', refused("weight", "type")],
    [{ count: 1.5 }, refused("count", "type")],
    [{ count: 2 ** 53 }, refused("count", "max")],
    [{ count: null }, refused("count", "type")],
    [{ isSharp: "true" }, refused("isSharp", "type")],
    [{ isSharp: 1 }, refused("isSharp", "type")],
    [{ boughtAt: "yesterday" }, refused("boughtAt", "format")],
    [{ boughtAt: "2026-02-30T00:00:00Z" }, refused("boughtAt", "format")],
    [{ boughtAt: "2026-11-21T09:30:00" }, refused("boughtAt", "format")],
    [{ boughtAt: "0001-01-01T00:00:00+14:00" }, refused("boughtAt", "format")],
    [{ boughtAt: 1_700_000_000 }, refused("boughtAt", "type")],
    [{ serial: "a b" }, refused("serial", "format")],
    [{ uses: 5 }, refused("uses", "read_only")],
    [{ secret: "x" }, refused("secret", "unknown")],
    [{ meta: { a: "\u0000" } }, refused("meta.a", "format")],
    ['{"name": "x", "notes": {"a": ["\\ud800"]}}', refused("notes.a.0", "format")],
  ];
  scenarios(server, [
    ...bodies.map(([body, expected]) => ({
      fact: `${typeof body === "string" ? body : JSON.stringify(body)} is refused`,
      path: "/tools",
      body: typeof body === "string" ? body : { name: "x", ...body },
      ...expected,
    })),
    ...[
      ["count=1.5", "count", "type"],
      ["count=99999999999999999999", "count", "type"],
      ["weight=heavy", "weight", "type"],
      ["weight=", "weight", "type"],
      ["weight=1e999", "weight", "type"],
      ["isSharp=yes", "isSharp", "type"],
      ["boughtAt[gt]=x", "boughtAt[gt]", "format"],
      ["meta=x", "meta", "unknown"],
      ["secret=hidden", "secret", "unknown"],
      ["fields=secret", "fields", "unknown"],
    ].map(([query, field, issue]) => ({
      fact: `the query ${query} is refused`,
      path: `/tools?${query}`,
      ...refused(field!, issue as "type"),
    })),
  ]);

  test("a serial is unique, and many tools may have none", async () => {
    await tool({ serial: "unique" });
    expectAnswer(await server.request("/tools", { body: { name: "x", serial: "unique" } }), {
      status: 409,
      code: "conflict",
      details: [{ field: "serial", issue: "duplicate" }],
    });
    await tool({});
    await tool({});
  });

  test("a filter by a number accepts decimal numbers only", async () => {
    for (const value of ["0x10", "%201", "1%20", "Infinity", "1e999", "0b1", "."])
      expectAnswer(await server.request(`/tools?weight[gte]=${value}`), {
        status: 422,
        details: [{ field: "weight[gte]", issue: "type" }],
      });
    for (const value of ["0", "-1", "1.5", "1e2", "1E-2"])
      assert.equal((await server.request(`/tools?weight[gte]=${value}`)).status, 200);
  });
});
